/** The audit log: who changed what. An event is written in the transaction of the change, and chained to the account's event before it. */
import { createHash } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { canonical } from '../base/canonical.ts'
import type { Tx } from '../db/db.ts'
import { newId, showId } from '../base/ids.ts'
import { coverPrivate, diffShown, isRecord } from './cover.ts'

/** A user, an API key, or the program itself (id null). */
export interface Actor {
  kind: 'user' | 'key' | 'system'
  id: string | null
}

export interface Deed {
  /** The log's account: the changed one, or the operator's for the installation. */
  accountId: string
  actor: Actor
  /** `<resource>.<past tense>`, such as `webhook.updated`. */
  action: string
  /** The object's public id, or its name without one; numbers are masked. */
  target: string | null
  ip: string | null
  /** `req_…`; null without a request. */
  requestId: string | null
  /** The resource as shown; only differences are kept, without secrets and with masked numbers. Null: it is new. */
  before?: unknown
  /** Null: it is deleted. */
  after?: unknown
}

/** Overrides what is taken from the response. */
export interface AuditNote {
  /** Default: the id of the response, or the first parameter of the path. */
  target?: string | null
  before?: unknown
  /** Default: the response. */
  after?: unknown
  /** The log's account. Default: the caller's. */
  accountId?: string
  /** Default: the route's. */
  action?: string
}

/** The hashed content of an event. */
export interface AuditContent extends Omit<Deed, 'before' | 'after'> {
  id: string
  seq: number
  before: unknown
  after: unknown
}

export interface AuditRow {
  accountId: string
  id: string
  seq: number
  actorKind: Actor['kind']
  actorId: string | null
  action: string
  target: string | null
  ip: string | null
  requestId: string | null
  before: unknown
  after: unknown
  previousHash: Buffer
  hash: Buffer
}

export const contentOf = (row: Omit<AuditRow, 'previousHash'>): AuditContent => ({
  ...row,
  actor: { kind: row.actorKind, id: row.actorId },
})

export const noHash: Buffer = Buffer.alloc(32)

/** SHA-256 over the previous hash and the canonical JSON of an event. */
export function hashEvent(previous: Buffer, content: AuditContent): Buffer {
  const { accountId, id, seq, actor, action, target, ip, requestId, before, after } = content
  const fields = [accountId, id, seq, actor.kind, actor.id, action, target, ip, requestId, before, after]
  return createHash('sha256').update(previous).update(canonical(fields)).digest()
}

/**
 * Adds an event to an account's log, and returns its id. Locks the end of the account's chain until the commit: call it last in the
 * transaction of the change.
 */
export async function recordAudit(tx: Tx, deed: Deed): Promise<string> {
  const { rows } = await tx.query<{ seq: number; hash: Buffer }>({
    name: 'lock-audit-chain',
    text: `
      insert into audit_chains as c (account_id, seq, hash)
      values ($1, 0, $2)
      on conflict (account_id) do update
      set seq = c.seq
      returning seq, hash`,
    values: [deed.accountId, noHash],
  })
  const end = rows[0]
  if (!end) throw new Error('an upsert returned no row')
  const changed = diffShown(deed.before ?? null, deed.after ?? null)
  const content = { ...deed, ...changed, target: coverPrivate(deed.target), id: newId(), seq: end.seq + 1 }
  const hash = hashEvent(end.hash, content)
  // This transaction has locked the end of the chain; both by primary key.
  await tx.query({
    name: 'insert-audit-event',
    text: `
      with moved as (
        update audit_chains
        set seq = $3, hash = $13, changed_in = pg_current_xact_id()
        where account_id = $1
      )
      insert into audit_events
        (account_id, id, seq, actor_kind, actor_id, action, target, ip, request_id, before, after, previous_hash, hash)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`,
    values: [
      content.accountId,
      content.id,
      content.seq,
      content.actor.kind,
      content.actor.id,
      content.action,
      content.target,
      content.ip,
      content.requestId,
      jsonOf(content.before),
      jsonOf(content.after),
      end.hash,
      hash,
    ],
  })
  return content.id
}

const jsonOf = (value: unknown): string | null => (value === null ? null : JSON.stringify(value))

export const actorOf = ({ id, userId }: { id: string; userId: string | null }): Actor =>
  userId === null ? { kind: 'key', id } : { kind: 'user', id: userId }

/** Null: the system. */
export const showActorId = ({ kind, id }: Actor): string | null => id && showId(kind === 'key' ? 'key' : 'usr', id)

/** Records a request by its route's `config.audit`; `body` is its response. Does nothing if the route declares none. */
export async function recordRequest(tx: Tx, request: FastifyRequest, note: AuditNote, body?: unknown): Promise<void> {
  const action = note.action ?? request.routeOptions.config.audit
  if (action === undefined) return
  const shown = body as { id?: unknown } | null | undefined
  const [parameter = null] = Object.values((request.params ?? {}) as Record<string, string>)
  const isDeleted = request.method === 'DELETE'
  const after = note.after === undefined ? (isDeleted ? null : (body ?? null)) : note.after
  await recordAudit(tx, {
    accountId: note.accountId ?? request.caller.accountId,
    actor: actorOf(request.caller),
    action,
    target: note.target !== undefined ? note.target : typeof shown?.id === 'string' ? shown.id : parameter,
    ip: request.ip,
    requestId: request.id,
    before: note.before ?? null,
    after: withSecretsOf(request.body, after),
  })
}

/** Adds the names of secrets that a body sets, which responses never show. */
function withSecretsOf(body: unknown, after: unknown): unknown {
  if (!isRecord(body) || !isRecord(after)) return after
  const set = ['password', 'secret', 'secrets'].filter((name) => body[name] !== undefined)
  return set.length === 0 ? after : { ...after, ...Object.fromEntries(set.map((name) => [name, body[name]])) }
}
