/** Idempotency keys (draft-ietf-httpapi-idempotency-key-header): a request that is repeated with its key takes place once. */
import { hash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { inTransaction, type Db, type Tx } from './db/db.ts'
import { ApiError } from './errors.ts'
import type { Vault } from './secrets.ts'

/** What a piece of work answers. */
export interface Outcome {
  status: number
  /** Undefined: no body (204). */
  body?: unknown
  location?: string
  /** The created resource's database id, kept beside the key. */
  resourceId?: string
}

interface IdempotencyContext {
  db: Db
  /** Stored answers are sealed: some hold a secret that is shown once. */
  vault: Vault
}

/**
 * Runs `work` in a transaction and answers with what it returns; with an `Idempotency-Key`, the key's row is part of that transaction and
 * a repetition is answered from it, marked `Idempotency-Replayed: true`. What `work` throws rolls everything back, the key too, so a
 * refused request can be corrected and sent again with its key. The key belongs to the account and the route's `config.operation`.
 * @throws ApiError `invalid_header`, `idempotency_in_progress` (409) or `idempotency_key_reused` (422).
 */
export async function idempotent(
  { db, vault }: IdempotencyContext,
  request: FastifyRequest,
  reply: FastifyReply,
  work: (tx: Tx) => Promise<Outcome>,
): Promise<void> {
  const key = readIdempotencyKey(request)
  if (key === null) {
    answer(reply, await inTransaction(db, work))
    return
  }
  const { url, method, config } = request.routeOptions
  const scope: Scope = {
    accountId: request.caller.accountId,
    operation: config.operation ?? `${String(method)} ${url ?? ''}`,
    key,
    fingerprint: fingerprintOf([request.params ?? null, request.query ?? null, request.body ?? null]),
  }
  const purpose = `idempotency_keys ${scope.accountId} ${scope.operation} ${key}`
  const { outcome, isReplay } = await inTransaction(db, async (tx) => {
    const known = await claim(tx, scope)
    if (known)
      return { outcome: JSON.parse(vault.open(Buffer.from(known, 'base64'), purpose)) as Outcome, isReplay: true }
    const outcome = await work(tx)
    await store(tx, scope, outcome, vault.seal(JSON.stringify(outcome), purpose).toString('base64'))
    return { outcome, isReplay: false }
  })
  if (isReplay) reply.header('idempotency-replayed', 'true')
  answer(reply, outcome)
}

/** The key of a request, bare or as a quoted string (RFC 9651 §3.3.3); null without one. @throws ApiError `invalid_header`. */
export function readIdempotencyKey(request: FastifyRequest): string | null {
  const header = request.headers['idempotency-key']
  if (header === undefined) return null
  const text = String(header)
  const key = /^"(?:[^"\\]|\\["\\])*"$/.test(text) ? text.slice(1, -1).replace(/\\(["\\])/g, '$1') : text
  if (!/^[\x21-\x7e]{1,255}$/.test(key))
    throw new ApiError('invalid_header', { detail: 'Idempotency-Key must be 1 to 255 visible ASCII characters.' })
  return key
}

/** SHA-256 of a JSON value whatever the order of its members and its spaces. */
export function fingerprintOf(value: unknown): Buffer {
  return hash('sha256', canonical(value), 'buffer')
}

/** The refusal of a key that came with another request before. */
export function keyReused(): ApiError {
  return new ApiError('idempotency_key_reused', { detail: 'The key came with another body, path or query before.' })
}

/** The refusal of a repetition while the first is running. */
export function keyInProgress(): ApiError {
  return new ApiError('idempotency_in_progress', { retryAfterSeconds: 1 })
}

interface Scope {
  accountId: string
  operation: string
  key: string
  fingerprint: Buffer
}

/**
 * Takes the key for this transaction by an advisory lock (a repetition is told to come back instead of waiting), then reads what an
 * earlier one left: a second statement, because the first one's snapshot may be older than the lock. Returns the sealed answer, or null.
 */
async function claim(tx: Tx, { accountId, operation, key, fingerprint }: Scope): Promise<string | null> {
  const { rows: locks } = await tx.query<{ isTaken: boolean }>({
    name: 'lock-idempotency-key',
    text: 'select pg_try_advisory_xact_lock(hashtextextended($1, 0)) as "isTaken"',
    values: [`${accountId} ${operation} ${key}`],
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

/** Inserts the key with its answer; the lock of `claim` keeps others out. */
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

function answer(reply: FastifyReply, { status, body, location }: Outcome): void {
  reply.code(status)
  if (location !== undefined) reply.header('location', location)
  // Not awaited: a reply settles only when its last byte is written, and callers have things to do after the commit.
  void reply.send(body)
}

/** JSON with sorted members and no spaces (RFC 8785 without its rules for numbers, which JavaScript writes alike anyway). */
function canonical(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`
  const record = value as Record<string, unknown>
  let text = ''
  for (const name of Object.keys(record).sort()) {
    if (record[name] !== undefined) text += `${text && ','}${JSON.stringify(name)}:${canonical(record[name])}`
  }
  return `{${text}}`
}
