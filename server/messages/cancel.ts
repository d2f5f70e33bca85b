/** Cancel: only what no carrier has. */
import { inTransaction, type Db, type Tx } from '../db/db.ts'
import type { Outbox, Subscriptions } from '../events.ts'
import { recordMoves, type Moved } from './ledger.ts'
import { messageColumns, type MessageRow } from './message.ts'

interface CancelContext {
  db: Db
  outbox: Outbox
  subscriptions: Subscriptions
}

/**
 * Cancels a scheduled or queued message. Returns its row; null where it was neither (or is not the account's): a claim and a cancel
 * both compare and set the status, so exactly one of them wins.
 */
export async function cancelMessage(context: CancelContext, accountId: string, id: string): Promise<MessageRow | null> {
  const { postings, row } = await inTransaction(context.db, async (tx) => {
    const moved = await cancelWaiting(tx, accountId, { id })
    return { postings: await recordMoves(tx, moved, context), row: moved[0]?.row ?? null }
  })
  context.outbox.offer(postings)
  return row
}

/**
 * Cancels what waits for an account: one message, or everything to a number (then as `recipient_opted_out`), in the caller's
 * transaction. Locks the messages (primary key, or messages_their_number) and deletes their rows in queue and delayed, except those that
 * somebody holds: a claim locks its queue rows first and its messages then, so waiting for one here would be a deadlock; the claim
 * deletes the row itself and passes over a message that is not queued any more.
 */
export async function cancelWaiting(
  tx: Tx,
  accountId: string,
  which: { id: string } | { theirNumber: string },
): Promise<Moved[]> {
  const isOne = 'id' in which
  const { rows } = await tx.query<MessageRow & { from: 'queued' | 'scheduled' }>(
    `with waiting as materialized (
       select m.id, m.status
       from messages m
       where m.account_id = $1
         and ${isOne ? 'm.id = $2::uuid' : 'm.their_number = $2'}
         and m.status in ('queued', 'scheduled')
         and m.direction = 'outbound'
         and not m.is_confirmation
       for update
     ), moved as (
       update messages m
       set status = 'canceled', sequence = m.sequence + 1, updated_at = now(), completed_at = now(),
         hold_reason = null, hold_until = null,
         error_code = ${isOne ? 'null' : `'recipient_opted_out'`}, error_stage = ${isOne ? 'null' : `'queue'`}
       from waiting w
       where m.account_id = $1 and m.id = w.id
       returning ${messageColumns('m')}, w.status as "from"
     ), unqueued as (
       delete from queue
       where (lane_id, message_id) in (
         select q.lane_id, q.message_id
         from moved, lanes l, queue q
         where l.account_id = $1 and q.lane_id = l.id and q.message_id = moved.id
         for update of q skip locked)
     ), undelayed as (
       delete from delayed
       where (account_id, message_id) in (
         select d.account_id, d.message_id
         from moved, delayed d
         where d.account_id = $1 and d.message_id = moved.id
         for update of d skip locked)
     ), outcome as (
       insert into outcomes (account_id, status, message_id, error_code)
       select "accountId", status, id, "errorCode" from moved
       on conflict do nothing
     )
     select * from moved`,
    [accountId, isOne ? which.id : which.theirNumber],
  )
  return rows.map(({ from, ...row }) => ({ row, from }))
}
