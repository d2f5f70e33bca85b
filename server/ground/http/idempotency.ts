/** Idempotency keys (draft-ietf-httpapi-idempotency-key-header): a request repeated with its key is executed once. */
import { createHash, hash } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { recordRequest, type AuditNote } from '../audit/audit.ts'
import { canonical, canonicalPieces } from '../base/canonical.ts'
import { inTransaction, type Db, type Tx } from '../db/db.ts'
import { codeOf, isLostRace } from '../db/failure.ts'
import { ApiError } from '../base/errors.ts'
import { openTurns } from './turns.ts'
import type { Vault } from '../sealing/vault.ts'

export interface Outcome {
  status: number
  /** Undefined: no body (204). */
  body?: unknown
  location?: string
  /** The created resource's database id, kept beside the key. */
  resourceId?: string
  /** For the audit log, if the route declares `config.audit` and the response lacks it; null: no change. */
  audit?: AuditNote | null
}

export interface RouteContext {
  db: Db
  /** Stored responses are sealed: some hold a secret that is shown once. */
  vault: Vault
}

interface IdempotencyContext extends RouteContext {
  /** The work cannot be repeated: it reads the request as a stream. */
  isOnce?: true
}

// PostgreSQL ends one of two deadlocked transactions. Retried at once, it may lock the row before the other wakes up, and deadlock again:
// on a busy machine one lost three times.
const triesMax = 3
const pauseMs = 50

/**
 * A concurrent insert gives a unique violation (SQLSTATE 23505), a concurrent delete a foreign key violation (23503): a retry finds the
 * row, or its absence.
 */
const hasLost = (error: unknown): boolean => isLostRace(error) || ['23505', '23503'].includes(codeOf(error) ?? '')

/** Runs it in a transaction, again after a lost race. */
async function inTransactions<T>({ db, isOnce }: IdempotencyContext, work: (tx: Tx) => Promise<T>): Promise<T> {
  for (let tried = 1; ; tried++)
    try {
      return await inTransaction(db, work)
    } catch (error) {
      if (isOnce || tried === triesMax || !hasLost(error)) throw error
      await pause(pauseMs * (tried + Math.random()))
    }
}

/**
 * Runs `work` in a transaction and responds with its result. With an `Idempotency-Key`, the key's row is part of that transaction, and a
 * repetition gets the stored response, marked `Idempotency-Replayed: true`. An error of `work` rolls back everything, the key too, so a
 * refused request can be corrected and sent again with its key. `config.audit` is recorded in the same transaction. `work` may run again
 * after a lost race: its effects outside `tx` must allow that. The key belongs to the account and the route; a stored
 * response is only returned to callers with the first one's scopes, because it may show what others must not see. `complete` adds to the
 * first response and to repetitions what must not be stored.
 * @throws ApiError `invalid_header`, `idempotency_in_progress` (409) or `idempotency_key_reused` (422).
 */
export async function idempotent(
  context: IdempotencyContext,
  request: FastifyRequest,
  reply: FastifyReply,
  work: (tx: Tx) => Promise<Outcome>,
  complete: (tx: Tx, stored: Outcome) => Promise<Outcome> = async (_, stored) => stored,
): Promise<void> {
  const { vault } = context
  const key = readIdempotencyKey(request)
  const run = async (tx: Tx): Promise<Outcome> => {
    const { audit, ...outcome } = await work(tx)
    if (audit !== null) await recordRequest(tx, request, audit ?? {}, outcome.body)
    return outcome
  }
  if (key === null) {
    return answer(request, reply, await inTransactions(context, async (tx) => complete(tx, await run(tx))))
  }
  const scope = await scopeOf(vault, request, key)
  const { outcome, isReplay } = await inTransactions(context, async (tx) => {
    const known = await claim(tx, scope)
    if (known) return { outcome: await complete(tx, open(vault, scope, known)), isReplay: true }
    const outcome = await run(tx)
    await store(tx, scope, outcome, seal(vault, scope, outcome))
    return { outcome: await complete(tx, outcome), isReplay: false }
  })
  if (isReplay) reply.header('idempotency-replayed', 'true')
  await answer(request, reply, outcome)
}

// Keys of this process's running work in pieces.
const running = new Set<string>()

/**
 * The same for repeatable work that is too long for one transaction: it commits its pieces itself, and the key is stored with the response
 * after the last. After a crash in between a repetition runs it again; two processes at once give equal responses. It writes its own audit
 * events.
 */
export async function idempotentInPieces(
  { db, vault }: IdempotencyContext,
  request: FastifyRequest,
  reply: FastifyReply,
  work: () => Promise<Outcome>,
): Promise<void> {
  const key = readIdempotencyKey(request)
  if (key === null) return answer(request, reply, await work())
  const scope = await scopeOf(vault, request, key)
  const name = nameOf(scope)
  if (running.has(name)) throw keyInProgress()
  running.add(name)
  try {
    const before = await inTransaction(db, (tx) => claim(tx, scope))
    const mine = before === null ? await work() : null
    const known =
      before ??
      (await inTransaction(db, async (tx) => {
        const other = await claim(tx, scope)
        if (other === null && mine) await store(tx, scope, mine, seal(vault, scope, mine))
        return other
      }))
    if (known !== null) reply.header('idempotency-replayed', 'true')
    const outcome = known === null ? mine : open(vault, scope, known)
    if (outcome) await answer(request, reply, outcome)
  } finally {
    running.delete(name)
  }
}

/** The key, bare or as a quoted string (RFC 9651 §3.3.3); null without one. @throws ApiError `invalid_header`. */
export function readIdempotencyKey(request: FastifyRequest): string | null {
  const header = request.headers['idempotency-key']
  if (header === undefined) return null
  const text = String(header)
  const key = /^"(?:[^"\\]|\\["\\])*"$/.test(text) ? text.slice(1, -1).replace(/\\(["\\])/g, '$1') : text
  if (!/^[\x21-\x7e]{1,255}$/.test(key))
    throw new ApiError('invalid_header', { detail: 'Idempotency-Key must be 1 to 255 visible ASCII characters.' })
  return key
}

/** SHA-256 of a JSON value; the order of members and spaces do not matter. */
export function fingerprintOf(value: unknown): Buffer {
  return hash('sha256', canonical(value), 'buffer')
}

// Down to the items of a list in a body, which may be one of several parts.
const piecesDepth = 3

/** The same for megabytes, with turns for other work. */
export async function fingerprintInTurns(value: unknown): Promise<Buffer> {
  const giveWay = openTurns()
  const sum = createHash('sha256')
  for (const piece of canonicalPieces(value, piecesDepth)) {
    sum.update(piece)
    const turn = giveWay()
    if (turn) await turn
  }
  return sum.digest()
}

/** Keyed, because bodies may be guessable: the database alone allows no guessing. */
async function sealedFingerprintOf(vault: Vault, { params, query, body, caller }: FastifyRequest): Promise<Buffer> {
  const parts = [caller.mode, [...caller.scopes].sort(), params ?? null, query ?? null, body ?? null]
  return vault.mac('idempotency_keys', (await fingerprintInTurns(parts)).toString('base64'))
}

export function keyReused(): ApiError {
  return new ApiError('idempotency_key_reused', {
    detail: 'The key was already used with another body, path, query, scopes or mode.',
  })
}

export function keyInProgress(): ApiError {
  return new ApiError('idempotency_in_progress', { retryAfterSeconds: 1 })
}

export const purposeOf = (accountId: string, operation: string, key: string): string =>
  `idempotency_keys ${accountId} ${operation} ${key}`

interface Scope {
  accountId: string
  operation: string
  key: string
  fingerprint: Buffer
}

async function scopeOf(vault: Vault, request: FastifyRequest, key: string): Promise<Scope> {
  const { url, method } = request.routeOptions
  return {
    accountId: request.caller.accountId,
    operation: `${String(method)} ${url ?? ''}`,
    key,
    fingerprint: await sealedFingerprintOf(vault, request),
  }
}

const nameOf = ({ accountId, operation, key }: Scope): string => `${accountId} ${operation} ${key}`

const seal = (vault: Vault, { accountId, operation, key }: Scope, outcome: Outcome): string =>
  vault.seal(JSON.stringify(outcome), purposeOf(accountId, operation, key)).toString('base64')

const open = (vault: Vault, { accountId, operation, key }: Scope, sealed: string): Outcome =>
  JSON.parse(vault.open(Buffer.from(sealed, 'base64'), purposeOf(accountId, operation, key))) as Outcome

/**
 * Takes the key for this transaction by an advisory lock (a concurrent repetition is refused instead of waiting), then reads the stored
 * response: a second statement, because the first one's snapshot may be older than the lock. Returns the sealed response, or null.
 */
async function claim(tx: Tx, scope: Scope): Promise<string | null> {
  const { accountId, operation, key, fingerprint } = scope
  const { rows: locks } = await tx.query<{ isTaken: boolean }>({
    name: 'lock-idempotency-key',
    text: 'select pg_try_advisory_xact_lock(hashtextextended($1, 0)) as "isTaken"',
    values: [nameOf(scope)],
  })
  if (!locks[0]?.isTaken) throw keyInProgress()
  const { rows } = await tx.query<{ fingerprint: Buffer; response: string | null }>({
    name: 'find-idempotency-key',
    text: `
      select fingerprint, response
      from idempotency_keys
      where account_id = $1
        and operation = $2
        and key = $3`,
    values: [accountId, operation, key],
  })
  const known = rows[0]
  if (!known) return null
  if (!known.fingerprint.equals(fingerprint) || known.response === null) throw keyReused()
  return known.response
}

/** The lock of `claim` excludes others. */
async function store(tx: Tx, scope: Scope, outcome: Outcome, response: string): Promise<void> {
  await tx.query({
    name: 'store-idempotency-key',
    text: `
      insert into idempotency_keys (account_id, operation, key, fingerprint, resource_id, status, response)
      values ($1, $2, $3, $4, $5, $6, $7)`,
    values: [
      scope.accountId,
      scope.operation,
      scope.key,
      scope.fingerprint,
      outcome.resourceId ?? null,
      outcome.status,
      response,
    ],
  })
}

/** Responds when this process has read the change. */
async function answer(
  request: FastifyRequest,
  reply: FastifyReply,
  { status, body, location }: Outcome,
): Promise<void> {
  await request.routeOptions.config.applied?.(request.caller)
  reply.code(status)
  if (location !== undefined) reply.header('location', location)
  // Not awaited: a reply settles only after its last byte, and callers have work after the commit.
  void reply.send(body)
}
