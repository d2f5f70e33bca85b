import type { CloseStep } from '../events/face.ts'

/**
 * Disables the endpoints of a closing account, at once or when its outbox is empty. Then drops its outbox except posts in flight. The
 * outbox has no index by account: it is read from the start.
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
