/** What becomes of the broadcasts, imports, contacts and campaigns of an account that is closed. */
import type { WindUp } from '../accounts/closing.ts'
import type { Tx } from '../ground/db/db.ts'
import { deleteRowsOf } from '../ground/db/rows-of-account.ts'
import type { Outbox, Posting, Subscriptions } from '../events/events.ts'
import { unfinishedStatuses } from './broadcast.ts'
import { moveBroadcast } from './store.ts'
import { endWithEvent } from '../imports/run.ts'
import { listUnfinished } from '../imports/store.ts'

const rowsMax = 2000

/**
 * A piece of an account's end: broadcasts that are not over are canceled, as by a request; their messages go with all others. Index
 * broadcasts_open.
 */
export const cancelBroadcastsOf: WindUp = async (tx, { accountId }) => {
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

/**
 * A piece of an account's end: imports that are not over are canceled, as by a request. One whose file is still coming is when it begins.
 */
export const cancelImportsOf =
  (context: { outbox: Outbox; subscriptions: Subscriptions }): WindUp =>
  async (tx, { accountId }) => {
    const postings: Posting[] = []
    for (const importId of await listUnfinished(tx, accountId))
      postings.push(...(await endWithEvent(tx, context, { accountId, importId }, 'canceled', null)).postings)
    return { isDone: true, postings }
  }

/** Deletes a piece of an account's contacts and of its rows that imports did not take; answers how many. */
export async function deleteContactsOf(tx: Tx, accountId: string): Promise<number> {
  await tx.query('update campaigns set contacts_count = 0 where account_id = $1 and contacts_count <> 0', [accountId])
  await tx.query(
    'update imports set sample = null, cells = null where account_id = $1 and num_nonnulls(sample, cells) > 0',
    [accountId],
  )
  return deleteRowsOf(tx, accountId, 'contacts', 'import_errors')
}

/**
 * Deletes a piece of an account's recipients, broadcasts and imports, and empties its campaigns, which stay for their counts and for routes
 * that name them; answers how many.
 */
export async function deleteCampaignsOf(tx: Tx, accountId: string): Promise<number> {
  const { rowCount } = await tx.query(
    `
    update campaigns
    set
      name = '', key = null, description = null, sender = null, pool_id = null, message = null, template_id = null, variables = '{}',
      default_country = null, timezone = null, callback_url = null, metadata = '{}', tags = '{}'
    where ctid = any (array(select ctid from campaigns where account_id = $1 and name <> '' limit $2))`,
    [accountId, rowsMax],
  )
  return (rowCount ?? 0) + (await deleteRowsOf(tx, accountId, 'recipients', 'broadcasts', 'imports'))
}
