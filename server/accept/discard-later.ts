/** Marks texts to delete once their messages have ended; `privacy/redact-later.ts` deletes them. */
import { columns } from '../ground/db/array.ts'
import type { Queryable } from '../ground/db/db.ts'

/** Runs in the transaction that accepts the messages. */
export async function discardLater(
  tx: Queryable,
  messages: readonly { accountId: string; id: string }[],
): Promise<void> {
  if (messages.length === 0) return
  await tx.query({
    name: 'discard-later',
    text: `
      insert into discards (account_id, message_id)
      select * from unnest($1::uuid[], $2::uuid[])
      on conflict do nothing`,
    values: columns([messages.map(({ accountId }) => accountId), messages.map(({ id }) => id)]),
  })
}
