/** Finds habits of a carrier in matched receipts: one receipt for a long message, and receipts that contradict themselves. Reads only. */
import type { Db } from '../ground/db/db.ts'

/** A link's long messages, by how many of their parts have a final receipt. */
export interface LongMessages {
  one: number
  more: number
  /** A message with one reported part. */
  exampleId: string | null
}

/** Receipts whose TLV and text report different final states. */
export interface Contradictions {
  /** Up to a thousand. */
  count: number
  example: { rawId: string; stat: string; contradicts: string; messageId: string | null } | null
}

const sampleMax = 2000
const contradictionsMax = 1000
// Fewer may be chance: phones that went off between two parts.
const onesMin = 5
const onesPerMore = 9

/** True if nearly all reported long messages have exactly one reported part. */
export const isOneReceipt = ({ one, more }: LongMessages): boolean => one >= onesMin && one >= more * onesPerMore

/** Samples matched receipts from both ends of their primary key, but not the last seconds: other parts may follow. Uses primary keys only. */
export async function countReported(db: Db, linkId: string, hours: number): Promise<LongMessages> {
  const { rows } = await db.query<LongMessages>(
    `with sample as materialized (
       (select account_id, message_id, state, received_at from receipts where link_id = $1 order by raw_id limit $2)
       union
       (select account_id, message_id, state, received_at from receipts where link_id = $1 order by raw_id desc limit $2)
     ), reported as materialized (
       select account_id, message_id
       from sample
       where message_id is not null
         and state in ('delivered', 'expired', 'deleted', 'undeliverable', 'rejected')
       group by account_id, message_id
       having max(received_at) < now() - interval '10 seconds'
         and max(received_at) >= now() - make_interval(secs => $3 * 3600.0)
     ), counted as materialized (
       select r.message_id, p.parts
       from reported r
       cross join lateral (
         select segments from messages where account_id = r.account_id and id = r.message_id limit 1
       ) m
       cross join lateral (
         select count(distinct segment) as parts
         from submissions
         where account_id = r.account_id
           and message_id = r.message_id
           and receipt_state in ('delivered', 'expired', 'deleted', 'undeliverable', 'rejected')
       ) p
       where m.segments > 1
     )
     select count(*) filter (where parts = 1) as one, count(*) filter (where parts > 1) as more,
       max(message_id::text) filter (where parts = 1) as "exampleId"
     from counted`,
    [linkId, sampleMax, hours],
  )
  return rows[0] ?? { one: 0, more: 0, exampleId: null }
}

/** By receipts_contradicting. */
export async function countContradictions(db: Db, linkId: string, hours: number): Promise<Contradictions> {
  const { rows } = await db.query<NonNullable<Contradictions['example']>>(
    `select raw_id as "rawId", stat, contradicts, message_id as "messageId"
     from receipts
     where link_id = $1
       and contradicts is not null
       and received_at >= now() - make_interval(secs => $2 * 3600.0)
     order by received_at desc
     limit $3`,
    [linkId, hours, contradictionsMax],
  )
  return { count: rows.length, example: rows[0] ?? null }
}
