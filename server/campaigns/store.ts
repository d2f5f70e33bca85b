/** The SQL of campaigns. Every query begins with the account. */
import type { Queryable, Tx } from '../db/db.ts'
import type { MessageType } from '../messages/message.ts'
import type { Position } from '../page.ts'
import type { CampaignInput } from './campaign.ts'

/** A row of `campaigns`. */
export interface CampaignRow {
  id: string
  key: string | null
  name: string
  description: string | null
  status: string
  type: MessageType | null
  sender: string | null
  defaultCountry: string | null
  timezone: string | null
  validityPeriod: number | null
  callbackUrl: string | null
  metadata: Record<string, string>
  tags: string[]
  contactsCount: number
  createdAt: Date
  updatedAt: Date
}

/** What became of a campaign's messages. */
export interface CampaignStats {
  recipients: number
  queued: number
  sent: number
  delivered: number
  failed: number
  unconfirmed: number
  canceled: number
  replies: number
  opt_outs: number
  segments: number
}

const columns = `id, key, name, description, status, type, sender, default_country as "defaultCountry", timezone,
  validity_period as "validityPeriod", callback_url as "callbackUrl", metadata, tags, contacts_count as "contactsCount",
  created_at as "createdAt", updated_at as "updatedAt"`

/** Inserts a campaign, or returns null where its key is taken. `from` is a sender as `senders.number` has it. */
export async function insertCampaign(
  tx: Tx,
  accountId: string,
  id: string,
  input: Omit<CampaignInput, 'from'> & { from: string | null },
): Promise<CampaignRow | null> {
  const { rows } = await tx.query<CampaignRow>({
    name: 'insert-campaign',
    text: `
      insert into campaigns (account_id, id, key, name, description, type, sender, default_country, timezone, validity_period,
        callback_url, metadata, tags)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
      on conflict (account_id, key) do nothing
      returning ${columns}`,
    values: [
      accountId,
      id,
      input.key ?? null,
      input.name,
      input.description ?? null,
      input.type ?? null,
      input.from,
      input.default_country ?? null,
      input.timezone ?? null,
      input.validity_period ?? null,
      input.callback_url ?? null,
      JSON.stringify(input.metadata ?? {}),
      input.tags ?? [],
    ],
  })
  return rows[0] ?? null
}

/** Finds a campaign by its primary key or by the unique (account_id, key); locks nothing. */
export async function findCampaign(
  db: Queryable,
  accountId: string,
  by: { id: string } | { key: string },
): Promise<CampaignRow | null> {
  const [column, value] = 'id' in by ? ['id', by.id] : ['key', by.key]
  const { rows } = await db.query<CampaignRow>({
    name: `find-campaign-by-${column}`,
    text: `
      select ${columns}
      from campaigns
      where account_id = $1
        and ${column} = $2`,
    values: [accountId, value],
  })
  return rows[0] ?? null
}

/** Says that a sender belongs to the account, at any carrier; a handful of rows under (account_id, id). */
export async function hasSender(db: Queryable, accountId: string, number: string): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'has-sender',
    text: `
      select 1
      from senders
      where account_id = $1
        and number = $2
      limit 1`,
    values: [accountId, number],
  })
  return rowCount === 1
}

/** One page of campaigns by the primary key, in the order that `buildPage` expects, with one row more than `limit`. */
export async function listCampaigns(
  db: Queryable,
  accountId: string,
  limit: number,
  position: Position | null,
): Promise<CampaignRow[]> {
  const isAfter = position?.direction === 'after'
  const { rows } = await db.query<CampaignRow>({
    name: `list-campaigns-${isAfter ? 'after' : 'before'}`,
    text: `
      select ${columns}
      from campaigns
      where account_id = $1
        and ($2::uuid is null or id ${isAfter ? '>' : '<'} $2)
      order by id ${isAfter ? 'asc' : 'desc'}
      limit $3`,
    values: [accountId, position?.id ?? null, limit + 1],
  })
  return rows
}

/** Counts a campaign's messages by what became of them: reads all of them through messages_campaign, so for one campaign at a time. */
export async function countMessages(db: Queryable, accountId: string, campaignId: string): Promise<CampaignStats> {
  const { rows } = await db.query<CampaignStats>({
    name: 'count-campaign-messages',
    text: `
      select
        count(distinct their_number) filter (where direction = 'outbound') as recipients,
        count(*) filter (where status in ('scheduled', 'queued', 'sending')) as queued,
        count(*) filter (where status = 'sent') as sent,
        count(*) filter (where status = 'delivered') as delivered,
        count(*) filter (where status in ('undelivered', 'rejected', 'failed', 'expired')) as failed,
        count(*) filter (where status = 'unconfirmed') as unconfirmed,
        count(*) filter (where status = 'canceled') as canceled,
        count(*) filter (where direction = 'inbound') as replies,
        count(*) filter (where direction = 'inbound' and exists (
          select from opt_outs o
          where o.account_id = m.account_id
            and o.number = m.their_number
            and o.message_id = m.id
        )) as opt_outs,
        coalesce(sum(segments) filter (where direction = 'outbound'), 0)::bigint as segments
      from messages m
      where account_id = $1
        and campaign_id = $2`,
    values: [accountId, campaignId],
  })
  const [stats] = rows
  if (!stats) throw new Error('an aggregate without groups has one row')
  return stats
}
