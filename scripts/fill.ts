/** A ledger with a past: messages of several days in their partitions, written by SQL alone, for development, lists and exports. */
import type { Db } from '../server/ground/db/db.ts'
import { ensurePartitions } from '../server/ground/db/partitions.ts'
import { firstIdAt, newId } from '../server/ground/base/ids.ts'

export interface Filling {
  /** The first has eight of ten messages. */
  accountIds: [string, string, string]
  messages: number
  /** Days of messages, up to today. */
  days: number
}

export interface Filled {
  campaignId: string
  number: string
  contactId: string
}

const dayMs = 86_400_000
const quiet = { info: () => {}, warn: () => {}, error: () => {} }
const campaignsMax = 10
const people = 50_000
// Messages per statement. During a long one, no event in any database of its server is settled.
const pieceMax = 20_000

/**
 * Writes and analyzes the messages: nine of ten are delivered, one of fifty is a reply, one of five belongs to a campaign and its contact, one of
 * a hundred has a tag, one of ten metadata; in the last hour one of ten is still queued.
 */
export async function fillMessages(db: Db, { accountIds, messages, days }: Filling): Promise<Filled> {
  const now = Date.now()
  const today = Math.floor(now / dayMs) * dayMs
  for (let day = days - 1; day >= 0; day -= 8) await ensurePartitions(db, quiet, today - day * dayMs)
  await ensurePartitions(db, quiet)
  const [campaignBase, contactBase] = [firstIdAt(now - 400 * dayMs), firstIdAt(now - 399 * dayMs)]
  await db.query(
    `insert into campaigns (account_id, id, name)
     select a, ${numbered('$2', 'n')}, 'Campaign ' || n
     from unnest($1::uuid[]) as a, generate_series(1, $3::int) as n
     on conflict do nothing`,
    [accountIds, campaignBase, campaignsMax],
  )
  const startMs = today - (days - 1) * dayMs
  const stepMs = (now - startMs) / messages
  for (let day = 0; day < days; day++) {
    const from = startMs + day * dayMs
    const until = Math.min(from + dayMs, now)
    const suffix = new Date(from).toISOString().slice(0, 10).replaceAll('-', '')
    for (let piece = from; piece < until; piece += pieceMax * stepMs)
      await db.query(
        `
      insert into messages_${suffix} (account_id, id, direction, type, status, their_number, our_number, body, encoding, characters, segments,
        campaign_id, contact_id, metadata, tags, is_test, created_at, updated_at, queued_at, sent_at, completed_at, provider_message_id, attempts,
        segments_delivered, error_code, error_stage, error_raw, receipt_stat)
      select ($1::uuid[])[case n % 10 when 8 then 2 when 9 then 3 else 1 end],
        ${idAt('ms', '(n + $7::bigint % 1000000 * 100000000)')},
        case when status = 'received' then 'inbound' else 'outbound' end,
        case h / 400 % 20 when 1 then 'otp' when 2 then 'marketing' else 'transactional' end,
        status, (15551000000 + person)::text, '15557654321',
        'Your order ' || n || ' has left our warehouse and arrives tomorrow.', 'GSM-7', 60, case when h / 8000 % 30 = 0 then 3 else 1 end,
        case when person % 5 = 0 then ${numbered('$2', `(1 + person / 5 % ${campaignsMax})`)} end,
        case when person % 5 = 0 then ${numbered('$3', 'person')} end,
        case when h % 10 = 1 then jsonb_build_object('order', 'o' || n % 100) end,
        case when h / 1000 % 100 = 1 then array['vip'] end,
        h / 7 % 50 = 3, at, at + interval '3 seconds', at, at + interval '1 second',
        case when status <> 'queued' then at + interval '3 seconds' end, to_hex(n), 1, case when status = 'delivered' then 1 else 0 end,
        case when status in ('undelivered', 'rejected') then 'handset_unreachable' when status = 'unconfirmed' then 'no_receipt'
          when status = 'expired' then 'expired_in_queue' end,
        case when status in ('undelivered', 'rejected', 'unconfirmed', 'expired') then 'receipt' end, null,
        case when status = 'delivered' then 'DELIVRD' end
      from (
        select n, ms, h, to_timestamp(ms / 1000.0) as at, h / 3 % ${people} as person,
          case when ms > $7::bigint - 3600000 and h % 10 = 4 then 'queued' when h % 50 = 7 then 'received' when h % 40 = 11 then 'undelivered'
            when h % 80 = 13 then 'rejected' when h % 200 = 14 then 'unconfirmed' when h % 200 = 15 then 'expired' when h % 400 = 16 then 'canceled'
            else 'delivered' end as status
        from (
          select n, floor($4::float8 + n * $5::float8)::bigint as ms, abs(hashint4extended(n, 1) % 1000000007) as h
          from generate_series(ceil(($6::float8 - $4) / $5)::int, ceil(($8::float8 - $4) / $5)::int - 1) as n
        ) t
      ) m`,
        [
          accountIds,
          campaignBase,
          contactBase,
          startMs,
          stepMs,
          piece,
          Math.floor(now),
          Math.min(piece + pieceMax * stepMs, until),
        ],
      )
    await db.query(
      `insert into outcomes_${suffix} (account_id, status, message_id, error_code)
       select account_id, status, id, error_code
       from messages_${suffix}
       where status in ('undelivered', 'rejected', 'unconfirmed', 'expired', 'canceled')
       on conflict do nothing`,
    )
  }
  await db.query('analyze messages, outcomes')
  const { rows } = await db.query<{ number: string; contactId: string; campaignId: string }>(
    `select their_number as number, contact_id as "contactId", campaign_id as "campaignId"
     from messages
     where account_id = $1 and contact_id is not null
     order by id desc
     limit 1`,
    [accountIds[0]],
  )
  const [row] = rows
  if (!row) throw new Error('nothing was filled')
  return row
}

export async function addAccounts(db: Db): Promise<[string, string, string]> {
  const ids: [string, string, string] = [newId(), newId(), newId()]
  await db.query(`insert into accounts (id, name) select id, 'Filled' from unnest($1::uuid[]) as id`, [ids])
  return ids
}

/** SQL of a UUIDv7: a time in milliseconds, and a number for uniqueness. */
function idAt(ms: string, n: string): string {
  return `(lpad(to_hex(${ms}), 12, '0') || '7' || lpad(to_hex(${n} % 4096), 3, '0') || '8' || lpad(to_hex(${n}), 15, '0'))::uuid`
}

function numbered(base: string, n: string): string {
  return `(left(${base}::text, 24) || lpad(to_hex(${n}), 12, '0'))::uuid`
}
