/** The endpoints of an account that is closed. */
import type { CloseStep } from '../events/face.ts'

/**
 * A piece of an account's end: its endpoints are disabled, at once or when nothing waits to be posted any more. What waits is dropped then,
 * but for posts that are under way. Nothing tells whose a row of the outbox is but the row: it is read from its beginning.
 */
export const stopWebhooksOf: CloseStep = async (tx, { accountId, isStop }) => {
  if (isStop)
    await tx.query({
      name: 'drop-posts-of-account',
      text: `
        delete from outbox
        where account_id = $1
          and (leased_until is null or leased_until < now())`,
      values: [accountId],
    })
  else {
    const { rowCount } = await tx.query({
      name: 'find-post-of-account',
      text: 'select from outbox where account_id = $1 limit 1',
      values: [accountId],
    })
    if (rowCount) return { isDone: false, postings: [] }
  }
  await tx.query({
    name: 'disable-webhooks-of-account',
    text: `
      update webhooks
      set enabled = false, disabled_reason = 'request', disabled_at = now(), updated_at = now()
      where account_id = $1
        and enabled`,
    values: [accountId],
  })
  return { isDone: true, postings: [] }
}
