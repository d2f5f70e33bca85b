/**
 * Reads the event log in the order (txid, id). Forward readers stay below the oldest running transaction, so that a late commit never lands
 * behind a cursor; backward readers see all events.
 */
import { nowMs } from '../ground/db/clock.ts'
import type { Queryable } from '../ground/db/db.ts'
import { idSql, readNearest } from '../ground/db/span.ts'
import { renderEvent, type EventType } from '../events/events.ts'
import { firstIdAt, firstIdBehind, timeOfId } from '../ground/base/ids.ts'
import { isTaken } from '../post/attempt-rows.ts'
import { eventColumns, readPayloads, type StoredEvent } from '../post/payload.ts'

export interface EventFilter {
  types: string[] | null
  messageId: string | null
  /** True: an address took it, and none still refuses it. False: an address still refuses it. Null: any. */
  isDelivered: boolean | null
}

export interface EventRow {
  id: string
  type: EventType
  payload: string
}

/** Events of deleted messages lack the message. */
async function fill<Row extends StoredEvent>(db: Queryable, rows: Row[]): Promise<(Row & EventRow)[]> {
  const payloads = await readPayloads(db, rows)
  return rows.map((row, i) => {
    const payload = payloads[i] ?? renderEvent(row.id, { type: row.type, data: { message: null } }, row.createdAt)
    return { ...row, payload }
  })
}

export interface Place {
  id: string
  txid: string
}

const dayMs = 86_400_000

/** Whether all rows are newer than everything before an id. No transaction lasts a day, so ids and places differ by less. */
const isBeyond = (rows: readonly { id: string }[], bound: string): boolean =>
  rows.length > 0 && rows.every(({ id }) => id > firstIdAt(timeOfId(bound) + dayMs))

/** Events are no older than their message. Null: no bound. */
const oldestOf = ({ messageId }: EventFilter): string | null => messageId && firstIdBehind(messageId)

/** A condition for ids after a bound, null: any. In the text, as in `ground/db/span.ts`. */
const after = (id: string, bound: string | null): string => (bound === null ? '' : `and ${id} > ${idSql(bound)}`)

/**
 * An address refused the event (attempts_failed) and has not taken it since. Attempts are no older than their event, nor than a bound that
 * the event is newer than.
 */
const isRefused = (eventId: string, bound: string | null): string => `
  exists (
    select from attempts a
    where a.account_id = $1
      and a.event_id = ${eventId}
      and a.id > ${eventId}
      ${after('a.id', bound)}
      and a.outcome <> 'ok'
      and not ${isTaken('$1', 'a.event_id', `and taken.endpoint_id = a.endpoint_id ${after('taken.id', bound)}`)}
  )`

/** An event's place (primary key); null: it does not exist any more, or never did. */
export async function findPlace(db: Queryable, accountId: string, id: string): Promise<Place | null> {
  const { rows } = await db.query<Place>(
    'select id, txid::text as txid from events where account_id = $1 and id = $2',
    [accountId, id],
  )
  return rows[0] ?? null
}

/** By primary key. */
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

/** Newest first, from the newest or from before a place, by `events_order` (with a message: by `events_message`). */
export async function readBackward(
  db: Queryable,
  accountId: string,
  filter: EventFilter,
  limit: number,
  before: Place | null,
): Promise<EventRow[]> {
  if (filter.isDelivered === false) return readRefused(db, accountId, filter, limit, { before: before?.id ?? null })
  const upper = before && firstIdAt(timeOfId(before.id) + dayMs)
  const oldest = oldestOf(filter)
  const read = async (lower: string | null): Promise<StoredEvent[]> => {
    const values: unknown[] = [accountId, limit, filter.types, filter.messageId]
    const value = (one: unknown): string => `$${values.push(one)}`
    const { rows } = await db.query<StoredEvent>(
      `
    select ${eventColumns('e')}
    from events e
    where account_id = $1
      and ($3::text[] is null or type = any ($3))
      and ($4::uuid is null or message_id = $4)
      ${filter.isDelivered === null ? '' : `and ${isTaken('$1', 'e.id', after('taken.id', lower))} and not ${isRefused('e.id', lower)}`}
      ${before ? `and (txid, id) < (${value(before.txid)}::xid8, ${value(before.id)}::uuid) and id < ${value(upper)}::uuid` : ''}
      ${after('id', lower)}
      ${after('id', oldest)}
    order by txid desc, id desc
    limit $2`,
      values,
    )
    return rows
  }
  const isPage = (rows: StoredEvent[], bound: string): boolean =>
    (oldest !== null && bound <= oldest) || (rows.length === limit && isBeyond(rows, bound))
  return fill(db, await readNearest({ from: before?.id ?? null }, read, isPage))
}

/** Oldest first, from the oldest or from after a place, by the same indexes. */
export async function readForward(
  db: Queryable,
  accountId: string,
  filter: EventFilter,
  limit: number,
  place: Place | null,
): Promise<(EventRow & Place)[]> {
  const bound = place && firstIdAt(timeOfId(place.id) - dayMs)
  const { rows } = await db.query<StoredEvent & Place>(
    `
    select ${eventColumns('e')}, e.txid::text as txid
    from events e
    where account_id = $1
      and ($3::text[] is null or type = any ($3))
      and ($4::uuid is null or message_id = $4)
      and txid < pg_snapshot_xmin(pg_current_snapshot())
      ${place ? 'and (e.txid, e.id) > ($5::xid8, $6::uuid) and e.id > $7::uuid' : ''}
      ${after('id', oldestOf(filter))}
    order by e.txid, e.id
    limit $2`,
    [accountId, limit, filter.types, filter.messageId, ...(place ? [place.txid, place.id, bound] : [])],
  )
  return fill(db, rows)
}

/**
 * Events that an address refused and has not taken since, by id (attempts_failed): newest first before an id, or oldest first after one.
 * Costs as much as there were failures, whatever the size of the log.
 */
export async function readRefused(
  db: Queryable,
  accountId: string,
  filter: EventFilter,
  limit: number,
  from: { before: string | null } | { after: string },
): Promise<EventRow[]> {
  const [isAfter, id] = 'after' in from ? [true, from.after] : [false, from.before]
  const [order, compare] = isAfter ? ['asc', '>'] : ['desc', '<']
  const read = async (bound: string | null): Promise<StoredEvent[]> => {
    const { rows } = await db.query<StoredEvent>(
      `
    select ${eventColumns('e')}
    from (
      select distinct failed.event_id
      from attempts failed
      where failed.account_id = $1
        and failed.outcome <> 'ok'
        and ($5::uuid is null or failed.event_id ${compare} $5)
        ${after('failed.event_id', bound)}
        ${after('failed.id', bound)}
        and ${isRefused('failed.event_id', bound)}
      order by failed.event_id ${order}
    ) refused
    cross join lateral (
      select * from events where account_id = $1 and id = refused.event_id ${after('id', bound)} limit 1
    ) e
    where ($3::text[] is null or e.type = any ($3))
      and ($4::uuid is null or e.message_id = $4)
    order by refused.event_id ${order}
    limit $2`,
      [accountId, limit, filter.types, filter.messageId, id],
    )
    return rows
  }
  const oldest = oldestOf(filter)
  const rows = isAfter
    ? await read(id)
    : await readNearest(
        { from: id },
        (bound) => read(oldest !== null && (bound === null || bound < oldest) ? oldest : bound),
        (found, bound) => found.length === limit || (oldest !== null && bound <= oldest),
      )
  return fill(db, rows)
}

/** The newest settled event of each account; accounts without one are absent. One probe of `events_order` each. */
export async function readNewest(db: Queryable, accountIds: readonly string[]): Promise<Map<string, Place>> {
  // Events older than a day are no news to a watcher; the bound prunes partitions.
  const bound = firstIdAt(nowMs() - dayMs)
  const { rows } = await db.query<Place & { accountId: string }>({
    name: 'read-newest-events',
    text: `
      select k.account_id as "accountId", e.id, e.txid
      from unnest($1::uuid[]) as k (account_id)
      cross join lateral (
        select id, txid::text as txid
        from events
        where account_id = k.account_id
          and id > $2
          and txid < pg_snapshot_xmin(pg_current_snapshot())
        order by events.txid desc, id desc
        limit 1
      ) e`,
    values: [accountIds, bound],
  })
  return new Map(rows.map(({ accountId, id, txid }) => [accountId, { id, txid }]))
}

export function isBehind(place: Place, other: Place): boolean {
  const [at, than] = [BigInt(place.txid), BigInt(other.txid)]
  return at === than ? place.id > other.id : at > than
}

/** The newest settled event of an account; null: none (one probe of `events_order`). */
export async function findSettledPlace(db: Queryable, accountId: string): Promise<Place | null> {
  const read = async (lower: string | null): Promise<Place[]> => {
    const { rows } = await db.query<Place>(
      `
      select id, txid::text as txid
      from events
      where account_id = $1
        and txid < pg_snapshot_xmin(pg_current_snapshot())
        ${after('id', lower)}
      order by events.txid desc, id desc
      limit 1`,
      [accountId],
    )
    return rows
  }
  const [place] = await readNearest({ from: null }, read, isBeyond)
  return place ?? null
}

/** Events that the current transaction recorded for an account (`events_order`). */
export async function findEventsOfTransaction(tx: Queryable, accountId: string): Promise<string[]> {
  const { rows } = await tx.query<{ id: string }>(
    'select id from events where account_id = $1 and txid = pg_current_xact_id() order by id',
    [accountId],
  )
  return rows.map((row) => row.id)
}
