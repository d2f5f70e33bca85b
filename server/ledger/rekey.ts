/**
 * Keys stored ids again, piece by piece, after a change of the form in which their carrier writes them; receipts that then match are applied like any
 * others.
 */
import { columns, fieldsOf } from '../ground/db/array.ts'
import type { Db, Tx } from '../ground/db/db.ts'
import { applyReceipts, matchedColumns, type MatchedReceipt } from './apply.ts'
import type { Moved } from '../message/moved.ts'
import type { Reasons } from '../message/taxonomy.ts'

export interface ReceiptPlace {
  /** PostgreSQL's text: a Date would lose the microseconds. */
  receivedAt: string
  rawId: string
  state: string
  doneDate: string
}

/** The result of one piece; `next` is null after the last. */
export interface Piece<Place> {
  next: Place | null
  count: number
}

/**
 * Keys a piece of a link's ids again, from the carrier's spelling, which is kept if it differs from the key. Locks the rows that change, by primary
 * key, which also finds the piece. Of two ids that become equal, the newer stays, and the other is kept as a reused one (`carrier-ids-sql.ts`).
 * Repeatable.
 */
export async function rekeyIds(
  tx: Tx,
  linkId: string,
  keyOf: (rawId: string) => string,
  after: string,
  limit: number,
): Promise<Piece<string>> {
  const { rows } = await tx.query<{ key: string; rawId: string | null }>({
    name: 'read-carrier-ids',
    text: `
      select carrier_message_id as key, raw_id as "rawId"
      from carrier_ids
      where link_id = $1
        and carrier_message_id > $2
      order by carrier_message_id
      limit $3`,
    values: [linkId, after, limit],
  })
  const changes = rows
    .map(({ key, rawId }) => ({ key, rawId, newKey: keyOf(rawId ?? key) }))
    .filter(({ key, newKey }) => newKey !== key)
  const last = rows.at(-1)
  const next = rows.length < limit || !last ? null : last.key
  if (changes.length === 0) return { next, count: 0 }
  const { rows: gone } = await tx.query<{
    rawId: string
    newKey: string
    accountId: string
    messageId: string
    segment: number
    segments: number
    at: Date
  }>(
    `delete from carrier_ids c
     using unnest($2::text[], $3::text[], $4::text[]) as k (key, raw_id, new_key)
     where c.link_id = $1
       and c.carrier_message_id = k.key
       and c.raw_id is not distinct from k.raw_id
     returning coalesce(c.raw_id, c.carrier_message_id) as "rawId", k.new_key as "newKey", c.account_id as "accountId",
       c.message_id as "messageId", c.segment, c.segments, c.at`,
    [linkId, ...columns(fieldsOf(changes, 'key', 'rawId', 'newKey'))],
  )
  await tx.query(
    `with n as materialized (
       select key, nullif(raw_id, key) as raw_id, account_id, message_id, segment, segments, at
       from unnest($2::text[], $3::text[], $4::uuid[], $5::uuid[], $6::int[], $7::int[], $8::timestamptz[])
         as n (key, raw_id, account_id, message_id, segment, segments, at)
     ), known as (
       insert into carrier_ids as c (link_id, carrier_message_id, raw_id, account_id, message_id, segment, segments, at)
       select distinct on (n.key) $1::uuid, n.key, n.raw_id, n.account_id, n.message_id, n.segment, n.segments, n.at
       from n
       order by n.key, n.at desc
       on conflict (link_id, carrier_message_id) do update
         set raw_id = excluded.raw_id, account_id = excluded.account_id, message_id = excluded.message_id,
           segment = excluded.segment, segments = excluded.segments, at = excluded.at
         where c.at < excluded.at
       returning carrier_message_id, message_id
     )
     insert into carrier_ids (link_id, carrier_message_id, raw_id, account_id, message_id, segment, segments, at)
     select n.message_id, n.key, n.raw_id, n.account_id, n.message_id, n.segment, n.segments, n.at
     from n
     left join known k on k.carrier_message_id = n.key
     where k.message_id is distinct from n.message_id
     union all
     select c.message_id, c.carrier_message_id, c.raw_id, c.account_id, c.message_id, c.segment, c.segments, c.at
     from known k
     join carrier_ids c on c.link_id = $1 and c.carrier_message_id = k.carrier_message_id
     where c.message_id <> k.message_id
     on conflict do nothing`,
    [linkId, ...columns(fieldsOf(gone, 'newKey', 'rawId', 'accountId', 'messageId', 'segment', 'segments', 'at'))],
  )
  return { next, count: gone.length }
}

/**
 * Keys a piece of a link's unmatched receipts again, oldest first, and applies those that now match; returns the messages that moved, for
 * `recordMoves` in the same transaction. Locks these receipts and their messages. Receipts by receipts_unmatched_at; the update repeats the bounds,
 * so that no plan can read more of it. Messages by the primary key of carrier_ids, except if the id came long after the receipt: then the receipt is
 * of an earlier message. Repeatable.
 */
export async function rematchReceipts(
  tx: Tx,
  linkId: string,
  reasons: Reasons,
  keyOf: (rawId: string) => string,
  after: ReceiptPlace | null,
  limit: number,
): Promise<Piece<ReceiptPlace> & { moved: Moved[] }> {
  const { rows } = await tx.query<ReceiptPlace>({
    name: 'read-unmatched-receipts',
    text: `
      select received_at::text as "receivedAt", raw_id as "rawId", state, done_date as "doneDate"
      from receipts
      where link_id = $1
        and message_id is null
        and (received_at, raw_id, state, done_date) > ($2::timestamptz, $3, $4, $5)
      order by received_at, raw_id, state, done_date
      limit $6`,
    values: [
      linkId,
      after?.receivedAt ?? '-infinity',
      after?.rawId ?? '',
      after?.state ?? '',
      after?.doneDate ?? '',
      limit,
    ],
  })
  const [first, last] = [rows[0], rows.at(-1)]
  if (!first || !last) return { next: null, count: 0, moved: [] }
  const next = rows.length < limit ? null : last
  const { rows: found } = await tx.query<{ n: number } & MatchedReceipt & { messageId: string | null }>({
    name: 'rematch-receipts',
    text: `
      update receipts r
      set match_id = k.match_id, account_id = k.account_id, message_id = k.message_id, segment = k.segment
      from (
        select k.received_at, k.raw_id, k.state, k.done_date, k.match_id, k.n, c.account_id, c.message_id, c.segment, c.segments
        from unnest($2::timestamptz[], $3::text[], $4::text[], $5::text[], $6::text[]) with ordinality
          as k (received_at, raw_id, state, done_date, match_id, n)
        left join lateral (
          select account_id, message_id, segment, segments
          from carrier_ids
          where link_id = $1 and carrier_message_id = k.match_id and at < k.received_at + interval '1 hour'
          limit 1
        ) c on true
      ) k
      where r.link_id = $1
        and r.received_at = k.received_at and r.raw_id = k.raw_id and r.state = k.state and r.done_date = k.done_date
        and r.message_id is null
        and (r.received_at, r.raw_id, r.state, r.done_date) >= ($7::timestamptz, $8, $9, $10)
        and (r.received_at, r.raw_id, r.state, r.done_date) <= ($11::timestamptz, $12, $13, $14)
        and (k.message_id is not null or r.match_id <> k.match_id)
      returning k.n::int, ${matchedColumns('r', 'k')}`,
    values: [
      linkId,
      ...columns([...fieldsOf(rows, 'receivedAt', 'rawId', 'state', 'doneDate'), rows.map((row) => keyOf(row.rawId))]),
      ...[first, last].flatMap(({ receivedAt, rawId, state, doneDate }) => [receivedAt, rawId, state, doneDate]),
    ],
  })
  const matched = found.filter((row) => row.messageId !== null).sort((a, b) => a.n - b.n)
  return { next, count: matched.length, moved: matched.length > 0 ? await applyReceipts(tx, matched, reasons) : [] }
}

/** Unmatched receipts of some links, newest first, before a place; for each link by receipts_unmatched_at. */
export async function listUnmatched(
  db: Db | Tx,
  linkIds: readonly string[],
  before: ReceiptPlace | null,
  limit: number,
): Promise<UnmatchedReceipt[]> {
  const { rows } = await db.query<UnmatchedReceipt>(
    `select r.received_at::text as "receivedAt", r.received_at as at, r.raw_id as "rawId", r.state, r.done_date as "doneDate",
       r.match_id as "matchId", r.stat, r.err, r.network_error as "networkError", r.link_id as "linkId"
     from unnest($1::uuid[]) as l (id)
     cross join lateral (
       select received_at, raw_id, state, done_date, match_id, stat, err, network_error, link_id
       from receipts
       where link_id = l.id
         and message_id is null
         and (received_at, raw_id, state, done_date) < ($2::timestamptz, $3, $4, $5)
       order by received_at desc, raw_id desc, state desc, done_date desc
       limit $6
     ) r
     order by r.received_at desc, r.raw_id desc, r.state desc, r.done_date desc
     limit $6`,
    [
      linkIds,
      before?.receivedAt ?? 'infinity',
      before?.rawId ?? '',
      before?.state ?? '',
      before?.doneDate ?? '',
      limit,
    ],
  )
  return rows
}

export interface UnmatchedReceipt extends ReceiptPlace {
  linkId: string
  at: Date
  matchId: string
  stat: string
  err: string | null
  networkError: string | null
}
