/**
 * The event log as it is read: always in the order (txid, id). Going forward, a reader stays below the oldest transaction that is
 * still running, so that an event whose transaction commits late is never behind a cursor; going backward it sees all.
 */
import type { Queryable } from '../db/db.ts'
import { renderEvent } from '../events.ts'
import { firstIdAt, timeOfId } from '../ids.ts'
import { eventColumns, readPayloads, type StoredEvent } from './payload.ts'

/** Which events. */
export interface EventFilter {
  types: string[] | null
  messageId: string | null
}

/** An event as it was posted. */
export interface EventRow {
  id: string
  payload: string
}

/** A message that was deleted leaves its events without it. */
async function fill<Row extends StoredEvent>(db: Queryable, rows: Row[]): Promise<(Row & EventRow)[]> {
  const payloads = await readPayloads(db, rows)
  return rows.map((row, i) => {
    const payload = payloads[i] ?? renderEvent(row.id, { type: row.type, data: { message: null } }, row.createdAt)
    return { ...row, payload }
  })
}

interface Place {
  id: string
  txid: string
}

const dayMs = 86_400_000

/** Where an event stands in the log (primary key); null: there is none, or none any more. */
export async function findPlace(db: Queryable, accountId: string, id: string): Promise<Place | null> {
  const { rows } = await db.query<Place>(
    'select id, txid::text as txid from events where account_id = $1 and id = $2',
    [accountId, id],
  )
  return rows[0] ?? null
}

/** Reads one event (primary key). */
export async function findEvent(
  db: Queryable,
  accountId: string,
  id: string,
): Promise<(StoredEvent & EventRow) | null> {
  const { rows } = await db.query<StoredEvent>(
    `select ${eventColumns('e')} from events e where account_id = $1 and id = $2`,
    [accountId, id],
  )
  return (await fill(db, rows))[0] ?? null
}

/** Reads newest first, from the newest or from before a place, by `events_order` (with a message: by `events_message`). */
export async function readBackward(
  db: Queryable,
  accountId: string,
  filter: EventFilter,
  limit: number,
  before: Place | null,
): Promise<EventRow[]> {
  // No transaction lasts a day, so ids and places never differ by more: the bound prunes partitions.
  const bound = before && firstIdAt(timeOfId(before.id) + dayMs)
  const { rows } = await db.query<StoredEvent>(
    `
    select ${eventColumns('e')}
    from events e
    where account_id = $1
      and ($3::text[] is null or type = any ($3))
      and ($4::uuid is null or message_id = $4)
      ${before ? 'and (txid, id) < ($5::xid8, $6::uuid) and id < $7::uuid' : ''}
    order by txid desc, id desc
    limit $2`,
    [accountId, limit, filter.types, filter.messageId, ...(before ? [before.txid, before.id, bound] : [])],
  )
  return fill(db, rows)
}

/** Reads oldest first, from the oldest or from after a place, by the same indexes. */
export async function readForward(
  db: Queryable,
  accountId: string,
  filter: EventFilter,
  limit: number,
  after: Place | null,
): Promise<EventRow[]> {
  const bound = after && firstIdAt(timeOfId(after.id) - dayMs)
  const { rows } = await db.query<StoredEvent>(
    `
    select ${eventColumns('e')}
    from events e
    where account_id = $1
      and ($3::text[] is null or type = any ($3))
      and ($4::uuid is null or message_id = $4)
      and txid < pg_snapshot_xmin(pg_current_snapshot())
      ${after ? 'and (txid, id) > ($5::xid8, $6::uuid) and id > $7::uuid' : ''}
    order by txid, id
    limit $2`,
    [accountId, limit, filter.types, filter.messageId, ...(after ? [after.txid, after.id, bound] : [])],
  )
  return fill(db, rows)
}

/** The newest event that nothing can come before any more; null: there is none (one probe of `events_order`). */
export async function findSettled(db: Queryable, accountId: string): Promise<string | null> {
  const { rows } = await db.query<{ id: string }>(
    `
    select id
    from events
    where account_id = $1
      and txid < pg_snapshot_xmin(pg_current_snapshot())
    order by txid desc, id desc
    limit 1`,
    [accountId],
  )
  return rows[0]?.id ?? null
}

/** Events that the current transaction recorded for an account (`events_order`). */
export async function findEventsOfTransaction(tx: Queryable, accountId: string): Promise<string[]> {
  const { rows } = await tx.query<{ id: string }>(
    'select id from events where account_id = $1 and txid = pg_current_xact_id() order by id',
    [accountId],
  )
  return rows.map((row) => row.id)
}
