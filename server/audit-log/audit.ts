/** Reads the audit log of an account, and verifies its hash chain. */
import { contentOf, hashEvent, noHash, type Actor, type AuditRow } from '../ground/audit/audit.ts'
import type { Queryable } from '../ground/db/db.ts'
import type { PagePlace } from '../ground/http/page.ts'
import { listRows, isCreatedIn, type Value } from '../ground/http/search.ts'

/** Null matches any. */
export interface AuditFilters {
  actor: Actor | null
  action: string | null
  target: string | null
  createdAfter: Date | null
  createdBefore: Date | null
}

const columns = `
  account_id as "accountId",
  id,
  seq,
  actor_kind as "actorKind",
  actor_id as "actorId",
  action,
  target,
  ip,
  request_id as "requestId",
  before,
  after,
  previous_hash as "previousHash",
  hash`

/** Returns one more than `limit`. Served by the index of the filter, or the primary key. */
export function listAuditEvents(
  db: Queryable,
  accountId: string,
  { actor, action, target, createdAfter, createdBefore }: AuditFilters,
  ...place: PagePlace
): Promise<AuditRow[]> {
  const key = {
    ...(actor && { actor_kind: actor.kind }),
    ...(actor?.id && { actor_id: actor.id }),
    ...(action !== null && { action }),
    ...(target !== null && { target }),
  }
  const found = (value: Value): string[] => [
    // The system has no id; its events are contiguous in audit_events_actor.
    ...(actor && !actor.id ? ['actor_id is null'] : []),
    ...isCreatedIn(createdAfter, createdBefore, value),
  ]
  return listRows(db, { table: 'audit_events', columns, accountId, key, found }, ...place)
}

export interface AuditBreak {
  seq: number
  /** Null: the event is missing. */
  id: string | null
  /** `missing`: the event is gone; `changed`: its content does not match its hash; `unlinked`: it does not follow the event before it. */
  reason: 'missing' | 'changed' | 'unlinked'
}

export interface AuditCheck {
  /** Checked events, including the broken one. */
  events: number
  /** Hash of the last event; null if there is none. */
  head: Buffer | null
  /** Null: the chain holds. */
  brokenAt: AuditBreak | null
  /** The last event deleted by age: the count up to it, and its hash, to which the first remaining event is chained. */
  pruned: { seq: number; hash: Buffer } | null
}

const pageRows = 1000

/** Checks an account's chain from its first remaining event to its last, a page at a time; stops at the first break. */
export async function verifyAudit(db: Queryable, accountId: string): Promise<AuditCheck> {
  for (;;) {
    const end = await findEnd(db, accountId)
    const check = await checkChain(db, accountId, end)
    if (check.brokenAt?.reason !== 'missing') return check
    // Events deleted by age meanwhile are not missing: the chain now begins later.
    const { pruned } = await findEnd(db, accountId)
    if (pruned?.seq === end.pruned?.seq) return check
  }
}

async function checkChain(db: Queryable, accountId: string, end: ChainEnd): Promise<AuditCheck> {
  const { pruned } = end
  let previous = pruned?.hash ?? noHash
  let seq = pruned?.seq ?? 0
  const first = seq
  const broken = (id: string | null, reason: AuditBreak['reason']): AuditCheck => ({
    events: seq - first,
    head: end.hash,
    brokenAt: { seq, id, reason },
    pruned,
  })
  for (;;) {
    const rows = await readChain(db, accountId, seq)
    for (const row of rows) {
      seq++
      if (row.seq !== seq) return broken(null, 'missing')
      if (!row.previousHash.equals(previous)) return broken(row.id, 'unlinked')
      if (!hashEvent(previous, contentOf(row)).equals(row.hash)) return broken(row.id, 'changed')
      // Events added during the check are only checked against themselves.
      if (seq === end.seq && !row.hash.equals(end.hash ?? noHash)) return broken(row.id, 'changed')
      previous = row.hash
    }
    if (rows.length < pageRows) break
  }
  if (seq < end.seq) {
    seq++
    return broken(null, 'missing')
  }
  return { events: seq - first, head: seq === 0 ? null : previous, brokenAt: null, pruned }
}

interface ChainEnd {
  seq: number
  hash: Buffer | null
  pruned: AuditCheck['pruned']
}

/** The end of an account's chain, and its deleted beginning; by primary key. */
async function findEnd(db: Queryable, accountId: string): Promise<ChainEnd> {
  const { rows } = await db.query<{ seq: number; hash: Buffer; prunedSeq: number; prunedHash: Buffer | null }>({
    name: 'find-audit-end',
    text: `
      select seq, hash, pruned_seq as "prunedSeq", pruned_hash as "prunedHash"
      from audit_chains
      where account_id = $1`,
    values: [accountId],
  })
  const [end] = rows
  if (!end) return { seq: 0, hash: null, pruned: null }
  const { seq, hash, prunedSeq, prunedHash } = end
  return { seq, hash, pruned: prunedHash && { seq: prunedSeq, hash: prunedHash } }
}

/** Oldest first; by audit_events (account_id, seq). */
async function readChain(db: Queryable, accountId: string, afterSeq: number): Promise<AuditRow[]> {
  const { rows } = await db.query<AuditRow>({
    name: 'read-audit-chain',
    text: `
      select ${columns}
      from audit_events
      where account_id = $1
        and seq > $2
      order by seq
      limit $3`,
    values: [accountId, afterSeq, pageRows],
  })
  return rows
}
