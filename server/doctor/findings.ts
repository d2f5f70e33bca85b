/**
 * What the receipts of known messages tell of their carrier: whether it sends one receipt for a long message, and whether its receipts have
 * two last words. Reads only.
 */
import type { Db } from '../ground/db/db.ts'

/** Long messages of a link by how many of their parts have the last word of a receipt. */
export interface LongMessages {
  one: number
  more: number
  /** One of which one part was reported. */
  exampleId: string | null
}

/** Receipts whose TLV and text have different last words. */
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

/** Whether the carrier sends one receipt for a long message: of nearly all that were reported exactly one part was. */
export const isOneReceipt = ({ one, more }: LongMessages): boolean => one >= onesMin && one >= more * onesPerMore

/**
 * Counts by a sample of the receipts of known messages, from both ends of their primary key; those of the last seconds do not count, for the
 * other parts' may be on their way. Messages and submissions by primary key.
 */
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
