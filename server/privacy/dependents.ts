/** Rows of the ledger that depend on messages, for erasure and retention. */
import { columns, fieldsOf } from '../ground/db/array.ts'
import type { Tx } from '../ground/db/db.ts'
import { lockTries } from '../ledger/without-id.ts'

/**
 * Locks the notes, tries and submissions of messages, each by primary key and in its order, before the messages: sweeps of notes, adoption
 * of receipts and writes to submissions lock in this order. The reverse would deadlock.
 */
export async function lockDependents(
  tx: Tx,
  messages: readonly { accountId: string; messageId: string }[],
): Promise<void> {
  if (messages.length === 0) return
  const values = columns(fieldsOf(messages, 'accountId', 'messageId'))
  const keys = '(select * from unnest($1::uuid[], $2::uuid[]) as k (account_id, message_id) order by message_id) k'
  await tx.query({
    name: 'lock-discards',
    text: `
      select
      from ${keys}
      cross join lateral (
        select from discards where account_id = k.account_id and message_id = k.message_id for update) d`,
    values,
  })
  await lockTries(tx, messages)
  await tx.query({
    name: 'lock-submissions',
    text: `
      select
      from ${keys}
      cross join lateral (
        select from submissions
        where account_id = k.account_id and message_id = k.message_id
        order by segment, try
        for update) s`,
    values,
  })
}
