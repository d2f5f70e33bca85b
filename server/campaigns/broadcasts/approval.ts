/** Approval: a broadcast to many waits for the word of somebody else than who ordered it. */
import type { Tx } from '../../db/db.ts'
import type { BroadcastRow } from './broadcast.ts'
import { columnsOfBroadcast, setCampaignStatus } from './store.ts'

/**
 * Whether a broadcast to these contacts needs an approval: the account's setting says so, and they are more than it says. Counts no further
 * than that, by the primary key of contacts; all contacts of a campaign are counted already.
 */
export async function needsApproval(
  tx: Tx,
  accountId: string,
  campaignId: string,
  audienceTags: readonly string[] | null,
): Promise<boolean> {
  const { rows } = await tx.query<{ isNeeded: boolean }>({
    name: 'needs-approval',
    text: `
      select case
          when $3::text[] is null then c.contacts_count > a.above
          else (
            select count(*) > a.above
            from (
              select 1
              from contacts
              where account_id = $1
                and campaign_id = $2
                and tags && $3
              limit a.above + 1
            ) counted)
        end as "isNeeded"
      from (select (settings -> 'guards' ->> 'recipients_above')::bigint as above from accounts where id = $1) a
      join campaigns c on c.account_id = $1 and c.id = $2
      where a.above is not null`,
    values: [accountId, campaignId, audienceTags],
  })
  return rows[0]?.isNeeded ?? false
}

/** Stops a broadcast before its first message where its recipients have become more than its account lets go without an approval. */
export async function awaitApproval(tx: Tx, { accountId, id, campaignId }: BroadcastRow): Promise<BroadcastRow | null> {
  const { rows } = await tx.query<BroadcastRow>({
    name: 'await-approval',
    text: `
      update broadcasts b
      set status = 'awaiting_approval'
      from accounts a
      where b.account_id = $1
        and b.id = $2
        and a.id = b.account_id
        and b.is_expanded
        and b.messages = 0
        and not b.is_test
        and b.decided_at is null
        and b.recipients > (a.settings -> 'guards' ->> 'recipients_above')::bigint
      returning ${columnsOfBroadcast('b')}`,
    values: [accountId, id],
  })
  if (rows[0]) await setCampaignStatus(tx, accountId, campaignId, 'awaiting_approval')
  return rows[0] ?? null
}

/** A decision about a broadcast. */
export interface Decision {
  isApproved: boolean
  /** Public id of who decides. */
  by: string
  reason: string | null
}

/** Lets a broadcast that waits for it go on, or ends it: its campaign may have another then. Null where it does not wait. Locks both rows. */
export async function decide(
  tx: Tx,
  accountId: string,
  id: string,
  { isApproved, by, reason }: Decision,
): Promise<BroadcastRow | null> {
  const { rows } = await tx.query<BroadcastRow>(
    `update broadcasts b
     set status = case when not $3 then 'rejected' when b.send_at > now() then 'scheduled' else 'sending' end,
       decided_by = $4, decided_at = now(), decision = $5, completed_at = case when not $3 then now() end
     where b.account_id = $1
       and b.id = $2
       and b.status = 'awaiting_approval'
     returning ${columnsOfBroadcast('b')}`,
    [accountId, id, isApproved, by, reason],
  )
  const [row] = rows
  if (row) await setCampaignStatus(tx, accountId, row.campaignId, row.status === 'rejected' ? 'active' : row.status)
  return row ?? null
}
