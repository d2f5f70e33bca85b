import type { Queryable } from '../ground/db/db.ts'
import { parseId, showId } from '../ground/base/ids.ts'

/** Parameters of a path that names a campaign, or an import into one. */
export interface Named {
  campaign?: string
  import?: string
}

/**
 * Whether a test key created a campaign (by the audit log's index audit_events_target), without a live broadcast since. True if there is
 * no campaign: its route reports that.
 */
export async function isOfTests(
  db: Queryable,
  accountId: string,
  { campaign, import: imported }: Named,
): Promise<boolean> {
  const { rows } = await db.query<{ id: string }>(
    `select id
     from campaigns
     where account_id = $1
       and (id = $2 or key = $3 or id = (select campaign_id from imports where account_id = $1 and id = $4))`,
    [accountId, parseId('cmp', campaign ?? ''), campaign ?? null, parseId('imp', imported ?? '')],
  )
  const id = rows[0]?.id
  if (id === undefined) return true
  const { rowCount } = await db.query(
    `select 1
     from audit_events e
     join api_keys k on k.account_id = e.account_id and k.id = e.actor_id
     where e.account_id = $1
       and e.target = $2
       and e.action = 'campaign.created'
       and k.mode = 'test'
       and not exists (select 1 from broadcasts b where b.account_id = $1 and b.campaign_id = $3 and not b.is_test)`,
    [accountId, showId('cmp', id), id],
  )
  return rowCount === 1
}
