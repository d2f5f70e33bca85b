import type { CloseStep } from '../events/face.ts'
import { unfinishedStatuses } from './broadcast.ts'
import { moveBroadcast } from './store.ts'

/** Cancels unfinished broadcasts of a closed account, as a request would; another step cancels their messages. Index broadcasts_open. */
export const cancelBroadcastsOf: CloseStep = async (tx, { accountId }) => {
  const { rows } = await tx.query<{ campaignId: string }>({
    name: 'find-open-broadcasts-of-account',
    text: `
      select campaign_id as "campaignId"
      from broadcasts
      where account_id = $1
        and status in ('awaiting_approval', 'scheduled', 'sending', 'paused')`,
    values: [accountId],
  })
  for (const { campaignId } of rows) await moveBroadcast(tx, accountId, campaignId, unfinishedStatuses, 'canceled')
  return { isDone: true, postings: [] }
}
