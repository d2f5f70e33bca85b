/** Broadcasts that are not over, with their results, rate and remaining time. */
import { Type, type Static } from 'typebox'
import { unfinishedStatuses } from '../broadcasts/broadcast.ts'
import { readBroadcastStats } from '../campaigns/stats.ts'
import { Stats } from '../campaigns/stats-schema.ts'
import type { Queryable } from '../ground/db/db.ts'
import { showId } from '../ground/base/ids.ts'
import { IdOf, Nullable, Timestamp } from '../ground/http/http.ts'
import { readRates } from './rates.ts'

const broadcastsMax = 20

export const RunningBroadcast = Type.Object({
  id: IdOf('brc', 'The broadcast.'),
  campaign: Type.Object({ id: IdOf('cmp', 'Its campaign.'), name: Type.String() }),
  status: Type.Enum([...unfinishedStatuses]),
  hold_reason: Nullable(Type.String({ description: 'The guard that stops it; null: none.' })),
  send_at: Timestamp('When it starts.'),
  created_at: Timestamp('When it was created.'),
  rate: Type.Number({ description: 'Messages sent a second, over the last half minute.' }),
  eta_seconds: Nullable(
    Type.Integer({ description: 'Time until all are sent at this rate; null: nothing is being sent.' }),
  ),
  stats: Stats,
})
export type RunningBroadcast = Static<typeof RunningBroadcast>

interface Row {
  id: string
  campaignId: string
  name: string
  status: RunningBroadcast['status']
  holdReason: string | null
  sendAt: Date
  createdAt: Date
}

/** The newest; by broadcasts_open. */
export async function readRunning(db: Queryable, accountId: string): Promise<RunningBroadcast[]> {
  const { rows } = await db.query<Row>({
    name: 'read-running-broadcasts',
    text: `
      select b.id, b.campaign_id as "campaignId", c.name, b.status, b.hold_reason as "holdReason", b.send_at as "sendAt",
        b.created_at as "createdAt"
      from broadcasts b
      join campaigns c on c.account_id = b.account_id and c.id = b.campaign_id
      where b.account_id = $1
        and b.status in ('${unfinishedStatuses.join("', '")}')
      order by b.id desc
      limit ${broadcastsMax}`,
    values: [accountId],
  })
  const ids = rows.map(({ id }) => id)
  const stats = await readBroadcastStats(db, accountId, ids)
  const rates = await Promise.all(ids.map((id) => readRates(db, accountId, id)))
  return rows.flatMap((row, i) => {
    const [own, rate] = [stats.get(row.id), rates[i]?.sent ?? 0]
    return own ? [render(row, own, rate)] : []
  })
}

const render = ({ id, campaignId, name, status, holdReason, sendAt, createdAt }: Row, stats: Stats, rate: number) => ({
  id: showId('brc', id),
  campaign: { id: showId('cmp', campaignId), name },
  status,
  hold_reason: holdReason,
  send_at: sendAt.toISOString(),
  created_at: createdAt.toISOString(),
  rate,
  eta_seconds: rate > 0 ? Math.ceil(stats.queued / rate) : null,
  stats,
})
