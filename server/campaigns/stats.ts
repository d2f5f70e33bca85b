/** What became of a campaign's messages, read from the counts that the ledger keeps: no message is looked at. */
import { Type, type Static } from 'typebox'
import type { Queryable } from '../db/db.ts'
import { addUp, countFields, Costs, sums, type Sum } from '../messages/tallies/counts.ts'
import { counts } from '../messages/tallies/counts-sql.ts'
import { givenUpStatuses } from './broadcasts/broadcast.ts'

const Count = Type.Integer({ minimum: 0 })
const { messages: _messages, cost: _cost, ...ofMessages } = countFields

/** `stats` of a campaign. */
export const Stats = Type.Object(
  {
    recipients: Count,
    ...ofMessages,
    skipped: Type.Object({ opted_out: Count, invalid: Count, duplicate: Count, quiet_hours: Count }),
    opt_outs: Count,
    clicks: Count,
    cost: Costs,
  },
  {
    description:
      '`recipients` are all that its broadcasts turn to, and all other messages: the sum of `queued` (those whose turn has not come, too), `sent`, ' +
      '`delivered`, `failed`, `unconfirmed`, `canceled` and `skipped`, at every moment. Automatic answers are not among them.',
  },
)
export type CampaignStats = Static<typeof Stats>

/** Of broadcasts: recipients that have no message yet, or never will; and those who were passed over. */
interface Broadcasts {
  waiting: number
  given_up: number
  skipped: CampaignStats['skipped']
  replies_out: number
  clicks: number
}

/**
 * Reads the stats of a campaign in one snapshot: counts by tallies_campaign, broadcasts by broadcasts_campaign, its replies that opted out by
 * messages_replies.
 */
export async function readStats(db: Queryable, accountId: string, campaignId: string): Promise<CampaignStats> {
  const { rows } = await db.query<{ parts: Sum[] } & Broadcasts>({
    name: 'read-campaign-stats',
    text: statsSql,
    values: [accountId, campaignId],
  })
  const [row] = rows
  if (!row) throw new Error('an aggregate without groups has one row')
  const { messages, queued, canceled, ...rest } = addUp(row.parts)
  const { skipped } = row
  const passedOver = skipped.opted_out + skipped.invalid + skipped.duplicate + skipped.quiet_hours
  return {
    recipients: messages + row.waiting + row.given_up + passedOver,
    ...rest,
    queued: queued + row.waiting,
    canceled: canceled + row.given_up,
    skipped,
    opt_outs: row.replies_out,
    clicks: row.clicks,
  }
}

const givenUp = `('${givenUpStatuses.join("', '")}')`

// Replies come after their campaign, whose id is of its time: days before it are not looked at.
const statsSql = `
  with parts as (
    select ${sums}
    from ${counts('account_id = $1 and campaign_id = $2')} c
    group by bucket, currency
    having sum(messages) <> 0
  ), broadcast as (
    select b.status,
      b.recipients - b.messages - (select coalesce(sum(value::bigint), 0) from jsonb_each_text(b.skipped)) as rest,
      b.skipped
    from broadcasts b
    where b.account_id = $1
      and b.campaign_id = $2
  )
  select
    (select coalesce(json_agg(parts), '[]') from parts) as parts,
    (select coalesce(sum(rest), 0)::bigint from broadcast where status not in ${givenUp}) as waiting,
    (select coalesce(sum(rest), 0)::bigint from broadcast where status in ${givenUp}) as given_up,
    (
      select json_build_object(
        'opted_out', coalesce(sum(count::int) filter (where reason = 'recipient_opted_out'), 0),
        'duplicate', coalesce(sum(count::int) filter (where reason in ('duplicate', 'duplicate_message')), 0),
        'quiet_hours', coalesce(sum(count::int) filter (where reason = 'quiet_hours'), 0),
        'invalid', coalesce(sum(count::int) filter (where reason not in ('recipient_opted_out', 'duplicate', 'duplicate_message', 'quiet_hours')), 0))
      from broadcast, jsonb_each_text(skipped) as s (reason, count)
    ) as skipped,
    (
      select count(*)
      from messages m
      join opt_outs o on o.account_id = m.account_id and o.number = m.their_number and o.message_id = m.id
      where m.account_id = $1
        and m.campaign_id = $2
        and m.direction = 'inbound'
        and m.id > $2
    ) as replies_out,
    coalesce((select clicks from campaign_clicks where account_id = $1 and campaign_id = $2), 0)::bigint as clicks`
