/** Results of campaigns and broadcasts, from the ledger's counts: no message is read. */
import type { Queryable } from '../ground/db/db.ts'
import { addUp, sums, type Sum } from '../usage/counts.ts'
import { counts } from '../usage/counts-sql.ts'
import type { Stats } from './stats-schema.ts'

/** One snapshot. By tallies_campaign, broadcasts_campaign, opt_outs_campaign, and the key of campaign_clicks. */
export async function readStats(db: Queryable, accountId: string, campaignId: string): Promise<Stats> {
  const stats = (await readStatsBy(db, 'campaign_id', accountId, [campaignId])).get(campaignId)
  if (!stats) throw new Error('every id that is asked for has a row')
  return stats
}

/** One snapshot. By tallies_broadcast, opt_outs_broadcast, campaign_clicks_broadcast, and the primary key of broadcasts. */
export const readBroadcastStats = (
  db: Queryable,
  accountId: string,
  broadcastIds: readonly string[],
): Promise<Map<string, Stats>> => readStatsBy(db, 'broadcast_id', accountId, broadcastIds)

/** By primary key. */
export async function isBroadcastOf(
  db: Queryable,
  accountId: string,
  campaignId: string,
  broadcastId: string,
): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'is-broadcast-of',
    text: `select 1 from broadcasts where account_id = $1 and id = $2 and campaign_id = $3`,
    values: [accountId, broadcastId, campaignId],
  })
  return rowCount === 1
}

interface StatsRow {
  id: string
  parts: (Sum & { error: string | null })[]
  /** Recipients without a message yet. */
  waiting: number
  /** Recipients whose broadcast ended before their turn. */
  givenUp: number
  skipped: Stats['skipped']
  optOuts: number
  clicks: number
}

async function readStatsBy(
  db: Queryable,
  key: 'campaign_id' | 'broadcast_id',
  accountId: string,
  ids: readonly string[],
): Promise<Map<string, Stats>> {
  if (ids.length === 0) return new Map()
  const { rows } = await db.query<StatsRow>({
    name: `read-stats-by-${key}`,
    text: statsSql(key),
    values: [accountId, ids],
  })
  return new Map(rows.map((row) => [row.id, statsOf(row)]))
}

function statsOf({ parts, waiting, givenUp, skipped, optOuts, clicks }: StatsRow): Stats {
  const { messages, queued, canceled, ...rest } = addUp(parts)
  const failures: Record<string, number> = {}
  for (const part of parts)
    if (part.bucket === 'failed')
      failures[part.error ?? 'unknown'] = (failures[part.error ?? 'unknown'] ?? 0) + part.messages
  const passedOver = skipped.opted_out + skipped.invalid + skipped.duplicate + skipped.quiet_hours
  return {
    recipients: messages + waiting + givenUp + passedOver,
    ...rest,
    queued: queued + waiting,
    canceled: canceled + givenUp,
    failures,
    skipped,
    opt_outs: optOuts,
    clicks,
  }
}

/** Final states in which waiting recipients never get a message. */
export const givenUpStatuses = ['canceled', 'rejected', 'withdrawn'] as const

const givenUp = `('${givenUpStatuses.join("', '")}')`
const skippedFor = (reasons: string): string => `coalesce(sum(count::int) filter (where ${reasons}), 0)`

const statsSql = (key: 'campaign_id' | 'broadcast_id'): string => `
  with parts as materialized (
    select ${key} as id, case when bucket = 'failed' then error_code end as error, ${sums}
    from ${counts(`account_id = $1 and ${key} = any ($2::uuid[])`)} c
    group by 1, 2, bucket, currency
    having sum(messages) <> 0
  ), broadcast as materialized (
    select b.${key === 'campaign_id' ? key : 'id'} as id, b.status,
      b.recipients - b.messages - (select coalesce(sum(value::bigint), 0) from jsonb_each_text(b.skipped)) as rest,
      b.skipped
    from broadcasts b
    where b.account_id = $1
      and b.${key === 'campaign_id' ? key : 'id'} = any ($2::uuid[])
  )
  select asked.id,
    (select coalesce(json_agg(p), '[]') from parts p where p.id = asked.id) as parts,
    (select coalesce(sum(rest), 0)::bigint from broadcast b where b.id = asked.id and status not in ${givenUp}) as waiting,
    (select coalesce(sum(rest), 0)::bigint from broadcast b where b.id = asked.id and status in ${givenUp}) as "givenUp",
    (
      select json_build_object(
        'opted_out', ${skippedFor("reason = 'recipient_opted_out'")},
        'duplicate', ${skippedFor("reason in ('duplicate', 'duplicate_message')")},
        'quiet_hours', ${skippedFor("reason = 'quiet_hours'")},
        'invalid', ${skippedFor("reason not in ('recipient_opted_out', 'duplicate', 'duplicate_message', 'quiet_hours')")})
      from broadcast b, jsonb_each_text(b.skipped) as s (reason, count)
      where b.id = asked.id
    ) as skipped,
    (select count(*) from opt_outs o where o.account_id = $1 and o.${key} = asked.id) as "optOuts",
    (select coalesce(sum(t.clicks), 0)::bigint from campaign_clicks t where t.account_id = $1 and t.${key} = asked.id) as clicks
  from unnest($2::uuid[]) as asked (id)`
