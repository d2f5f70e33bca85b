/** Sent messages without a final receipt. */
import type { Recording } from '../events/events.ts'
import type { Db } from '../ground/db/db.ts'
import { within, type Span } from '../ground/db/span.ts'
import { endMessages } from '../queue/claim.ts'
import { messageColumns } from '../message/message.ts'
import { countMoves } from '../usage/delta-sql.ts'

export const carrierIdDays = 7

/**
 * Marks sent messages as unconfirmed if no final receipt came in time; those with an id only if it was given since `since`, or in the week before the
 * timeout. Returns the count; call again while it is `limit`.
 */
export async function endWithoutReceipt(
  context: Recording,
  hours: number,
  limit = 500,
  since: Date | null = null,
): Promise<number> {
  const span = await findLate(context.db, hours, since)
  return span ? endMessages(context, noReceiptSql(within(span)), [hours, limit, since]) : 0
}

/** The messages of which some may be late; null: none. By the same index as below. */
async function findLate(db: Db, hours: number, since: Date | null): Promise<Span | null> {
  const { rows } = await db.query<{ first: string | null; last: string | null }>({
    name: 'find-late',
    text: `
      select min(message_id::text) as first, max(message_id::text) as last
      from (
        select c.message_id from carrier_ids c where ${isLate('$2')}
        union all
        select message_id from nameless_tries
      ) late`,
    values: [hours, since],
  })
  const { first = null, last = null } = rows[0] ?? {}
  return first !== null && last !== null ? { first, last } : null
}

/**
 * Repeated calls: after a first complete run, each covers what became old since the last, plus an hour for slow transactions, instead of a week of
 * ids.
 */
export function watchReceipts(context: Recording, hours: number): (limit: number) => Promise<number> {
  let since: Date | null = null
  return async (limit) => {
    const oldest = await readTimeout(context.db, hours)
    const count = await endWithoutReceipt(context, hours, limit, since)
    if (count < limit) since = oldest
    return count
  }
}

/** An hour before the present timeout, by the database's clock. */
async function readTimeout(db: Db, hours: number): Promise<Date | null> {
  const { rows } = await db.query<{ at: Date }>(`select now() - make_interval(hours => $1) - interval '1 hour' as at`, [
    hours,
  ])
  return rows[0]?.at ?? null
}

// Carrier ids older than the receipt timeout whose message is still open; by the BRIN index on their time, back to $3, so that ended ones are not
// read forever. Messages accepted without an id are among the few tries without an id.
const isLate = (since: string): string => `c.at < now() - make_interval(hours => $1)
      and c.at > coalesce(${since}, now() - make_interval(hours => $1) - interval '7 days')`
const noReceiptSql = (days: string): string => `
  with late as materialized (
    select c.account_id, c.message_id
    from carrier_ids c
    join messages m on m.account_id = c.account_id and m.id = c.message_id and m.id ${days} and m.status = 'sent'
    where ${isLate('$3')}
    union
    select t.account_id, t.message_id
    from nameless_tries t
    join messages m on m.account_id = t.account_id and m.id = t.message_id and m.id ${days} and m.status = 'sent'
    where m.sent_at < now() - make_interval(hours => $1)
    limit $2
  ), moved as (
    update messages m
    set status = 'unconfirmed', previous_status = m.status, sequence = m.sequence + 1, updated_at = now(),
      error_code = 'no_receipt', error_stage = 'receipt', error_raw = null
    from late l
    where m.account_id = l.account_id and m.id = l.message_id and m.id ${days} and m.status = 'sent'
    returning ${messageColumns('m')}
  ), outcome as (
    insert into outcomes (account_id, status, message_id, error_code)
    select "accountId", status, id, "errorCode" from moved
    on conflict (account_id, status, message_id) do update
      set error_code = excluded.error_code
  ), ${countMoves('moved')}
  select moved.*, 'sent' as "from" from moved`
