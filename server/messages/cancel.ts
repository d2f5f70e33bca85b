/** Cancel: only messages that no carrier has. */
import { inTransaction, type Tx } from '../ground/db/db.ts'
import { nowMs } from '../ground/db/clock.ts'
import { spanOf, within, type Span } from '../ground/db/span.ts'
import type { Posting, Recording } from '../events/events.ts'
import { firstIdAt } from '../ground/base/ids.ts'
import { partsOfLane } from '../queue/lanes.ts'
import { recordMoves, type Moved } from '../message/moved.ts'
import { messageColumns, type MessageRow } from '../message/message.ts'
import { mayBeTaken, staysTwice } from '../message/repeat-sql.ts'
import { countMoves } from '../usage/delta-sql.ts'

/**
 * Cancels a scheduled or queued message; one queued for resending becomes unconfirmed again. Returns its row; null if it was neither (or is not the
 * account's). A claim and a cancel both compare and set the status, so exactly one of them wins.
 */
export async function cancelMessage(context: Recording, accountId: string, id: string): Promise<MessageRow | null> {
  const { postings, row } = await inTransaction(context.db, (tx) => cancelOne(tx, context, accountId, id))
  context.outbox.offer(postings)
  return row
}

/** In the caller's transaction; the caller offers the posts after it. */
export async function cancelOne(
  tx: Tx,
  context: Omit<Recording, 'db'>,
  accountId: string,
  id: string,
): Promise<{ row: MessageRow | null; postings: Posting[] }> {
  const moved = await cancelWaiting(tx, accountId, { id })
  return { postings: await recordMoves(tx, moved, context), row: moved[0]?.row ?? null }
}

const lastId = 'ffffffff-ffff-ffff-ffff-ffffffffffff'
// Messages accepted at this moment have older ids.
const justNowMs = 60_000

type Which =
  | { id: string }
  | { ids: readonly string[] }
  | { theirNumbers: readonly string[] }
  | { theirNumber: string; limit: number }
  | { campaignId: string; limit: number; after?: string | undefined }

/**
 * The range of the messages' ids: the named ones, or from the oldest queued one of the account (keys of delayed and queue), which may be of another,
 * old campaign, and after the caller's place.
 */
async function findWaiting(tx: Tx, accountId: string, which: Which): Promise<Span | null> {
  if ('id' in which) return spanOf([which.id])
  if ('ids' in which) return which.ids.length > 0 ? spanOf(which.ids) : null
  const { rows } = await tx.query<{ id: string }>({
    name: 'find-oldest-waiting',
    text: `
      with lines as (
        select id from lanes where account_id = $1
        union all
        select b.id from lanes l join backlogs b on b.lane_id = l.id where l.account_id = $1
      )
      select id
      from (
        (select message_id as id from delayed where account_id = $1 order by message_id limit 1)
        union all
        select q.message_id
        from lines
        cross join lateral (select message_id from queue where lane_id = lines.id order by message_id limit 1) q
        union all
        select $2
      ) oldest
      order by id
      limit 1`,
    values: [accountId, firstIdAt(nowMs() - justNowMs)],
  })
  const first = rows[0]?.id ?? firstIdAt(0)
  const after = 'after' in which ? which.after : undefined
  return { first: after !== undefined && after > first ? after : first, last: lastId }
}

/**
 * Cancels an account's waiting messages: one, a list (confirmations of STOP included), all to some numbers (then as `recipient_opted_out`), or a
 * limited number to a number or of a campaign, in the caller's transaction. Locks the messages in the order of their ids (primary key,
 * messages_their_number or messages_campaign) and deletes their rows in queue, in all parts of their lane, and delayed, except locked ones: a claim
 * locks queue rows before messages, so waiting for one here would deadlock; the claim deletes the row itself and skips a message that is no longer
 * queued.
 */
export async function cancelWaiting(tx: Tx, accountId: string, which: Which): Promise<Moved[]> {
  const isRefused = 'theirNumbers' in which
  const span = await findWaiting(tx, accountId, which)
  if (!span) return []
  const days = within(span)
  const [condition, value, limit] =
    'id' in which
      ? ['m.id = $2::uuid', which.id, null]
      : 'ids' in which
        ? ['m.id = any ($2::uuid[])', which.ids, null]
        : isRefused
          ? ['m.their_number = any ($2::text[])', which.theirNumbers, null]
          : 'theirNumber' in which
            ? ['m.their_number = $2::text', which.theirNumber, which.limit]
            : ['m.campaign_id = $2::uuid', which.campaignId, which.limit]
  const { rows } = await tx.query<MessageRow & { from: 'queued' | 'scheduled' }>(
    `with waiting as materialized (
       select m.id, m.status, ${mayBeTaken('m', '', days)} as may_be_taken
       from messages m
       where m.account_id = $1
         and ${condition}
         and m.id ${days}
         and m.status in ('queued', 'scheduled')
         and m.direction = 'outbound'
         ${'ids' in which ? '' : 'and not m.is_confirmation'}
       order by m.id
       limit $3
       for update
     ), moved as (
       update messages m
       set status = case when w.may_be_taken then 'unconfirmed' else 'canceled' end, previous_status = m.status, sequence = m.sequence + 1, updated_at = now(),
         completed_at = case when not w.may_be_taken then now() end, hold_reason = null, hold_until = null,
         possible_duplicate = ${staysTwice('m', '', days)},
         error_code = case when w.may_be_taken then 'outcome_unknown' else ${isRefused ? `'recipient_opted_out'` : 'null'} end,
         error_stage = ${isRefused ? `'queue'` : `case when w.may_be_taken then 'queue' end`}
       from waiting w
       where m.account_id = $1 and m.id = w.id and m.id ${days}
       returning ${messageColumns('m')}, w.status as "from"
     ), unqueued as (
       delete from queue
       where ctid = any (array(
         select q.ctid
         from moved
         join lanes l on l.account_id = $1 and l.type = moved.type
         ${partsOfLane('moved."ourNumber"', 'moved."campaignId"')}
         cross join lateral (
           select ctid from queue where lane_id = part.lane_id and message_id = moved.id for update skip locked) q))
     ), undelayed as (
       delete from delayed
       where ctid = any (array(
         select d.ctid
         from moved
         cross join lateral (
           select ctid from delayed where account_id = $1 and message_id = moved.id for update skip locked) d))
     ), outcome as (
       insert into outcomes (account_id, status, message_id, error_code)
       select "accountId", status, id, "errorCode" from moved
       on conflict do nothing
     ), ${countMoves('moved')}
     select * from moved`,
    [accountId, value, limit],
  )
  return rows.map(({ from, ...row }) => ({ row, from }))
}

/**
 * Deletes the remaining rows of a campaign's own parts of lanes when all its messages are over: rows that a claim held and kept in place while their
 * messages were canceled. Claims would find out, but skip canceled campaigns. By the keys of lanes, backlogs and the queue; waits for a claim that
 * holds them.
 */
export async function clearPartsOf(tx: Tx, accountId: string, campaignId: string): Promise<void> {
  await tx.query(
    `delete from queue
     where lane_id = any (array(
       select b.id from lanes l join backlogs b on b.lane_id = l.id where l.account_id = $1 and b.campaign_id = $2))`,
    [accountId, campaignId],
  )
}
