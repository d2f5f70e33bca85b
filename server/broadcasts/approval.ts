/** Approval: a large broadcast waits until a second person approves it. */
import { recordAudit } from '../ground/audit/audit.ts'
import type { Tx } from '../ground/db/db.ts'
import { showId } from '../ground/base/ids.ts'
import type { BroadcastRow } from './broadcast.ts'
import { audienceOf, columnsOfBroadcast, setCampaignStatus } from './store.ts'

/** Counts contacts only up to the account's limit, by the primary key of contacts; the count of a whole campaign is stored. */
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

/** Stops a broadcast above the limit and the approved number before its first message, when its last recipients are created: none can follow. */
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
        and b.recipients > coalesce(b.approved_recipients, 0)
        and b.recipients > (a.settings -> 'guards' ->> 'recipients_above')::bigint
      returning ${columnsOfBroadcast('b')}`,
    values: [accountId, id],
  })
  const [row] = rows
  if (!row) return null
  await setCampaignStatus(tx, accountId, campaignId, row.status)
  const { recipients, approvedRecipients } = row
  await recordAudit(tx, {
    accountId,
    actor: { kind: 'system', id: null },
    action: 'broadcast.approval_needed',
    target: showId('brc', id),
    ip: null,
    requestId: null,
    before: { status: 'sending', recipients: approvedRecipients },
    after: { status: row.status, recipients },
  })
  return row
}

export interface Decision {
  isApproved: boolean
  /** Public id of the user or key that decides. */
  by: string
  reason: string | null
}

/**
 * Approves a waiting broadcast for its current number of recipients, or ends it, which frees its campaign for another. Null if it does not
 * wait. Locks both rows; contacts that are not recipients yet are counted by their campaign, or by the primary key.
 */
export async function decide(
  tx: Tx,
  accountId: string,
  id: string,
  { isApproved, by, reason }: Decision,
): Promise<BroadcastRow | null> {
  const { rows } = await tx.query<BroadcastRow>(
    `update broadcasts b
     set status = case when not $3 then 'rejected' when b.send_at > now() then 'scheduled' else 'sending' end,
       decided_by = $4, decided_at = now(), decision = $5, completed_at = case when not $3 then now() end,
       approved_recipients = case
         when not $3 then b.approved_recipients
         when b.is_expanded then b.recipients
         else ${audienceOf('b')}
       end
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
