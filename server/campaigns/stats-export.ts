/** The stats of a campaign as a file, in full detail. */
import { writeCsv } from '../ground/http/csv.ts'
import type { Db, Queryable } from '../ground/db/db.ts'
import { showId } from '../ground/base/ids.ts'
import { sums, type Sum } from '../usage/counts.ts'
import { counts } from '../usage/counts-sql.ts'
import type { Span } from '../usage/span.ts'
import { millionths } from '../ground/base/money.ts'

/** All counts of a campaign, or those of one of its broadcasts. */
export interface Whose {
  campaignId: string
  broadcastId: string | null
}

const ofWhose = 'account_id = $1 and campaign_id = $2 and ($3::uuid is null or broadcast_id = $3)'

/** The first and the last hour with messages; by tallies_campaign. */
export async function readHours(
  db: Queryable,
  accountId: string,
  { campaignId, broadcastId }: Whose,
): Promise<{ first: Date | null; last: Date | null }> {
  const { rows } = await db.query<{ first: Date | null; last: Date | null }>({
    name: 'read-campaign-hours',
    text: `select min(hour) as first, max(hour) as last from ${counts(ofWhose)} c`,
    values: [accountId, campaignId, broadcastId],
  })
  return rows[0] ?? { first: null, last: null }
}

interface Line extends Sum {
  hour: Date
  type: string
  isTest: boolean
  country: string | null
  carrierId: string | null
  errorCode: string | null
  each: number
}

const header = [
  'hour',
  'type',
  'test',
  'country',
  'carrier',
  'status',
  'error',
  'segments_per_message',
  'messages',
  'segments',
  'cost',
  'currency',
]

const pageMs = 7 * 86_400_000

/** CSV in order of time. Each week is its own statement, so it may or may not include concurrent changes. */
export async function* writeStats(
  db: Db,
  accountId: string,
  { campaignId, broadcastId }: Whose,
  { from, to }: Span,
): AsyncGenerator<string> {
  yield writeCsv([header])
  for (let start = from.getTime(); start < to.getTime(); start += pageMs) {
    const end = Math.min(start + pageMs, to.getTime())
    const { rows } = await db.query<Line>({
      name: 'read-campaign-lines',
      text: `
        select hour, type, is_test as "isTest", country, carrier_id as "carrierId", error_code as "errorCode", segments as each, ${sums}
        from ${counts(`${ofWhose} and hour >= $4 and hour < $5`)} c
        group by hour, type, is_test, country, carrier_id, error_code, each, bucket, currency
        having sum(messages) <> 0
        order by 1, 2, 3, 4, 5, bucket, 6, 7`,
      values: [accountId, campaignId, broadcastId, new Date(start), new Date(end)],
    })
    if (rows.length > 0) yield writeCsv(rows.map(cellsOf))
  }
}

const cellsOf = (line: Line): (string | null)[] => [
  line.hour.toISOString(),
  line.type,
  String(line.isTest),
  line.country,
  line.carrierId && showId('car', line.carrierId),
  line.bucket,
  line.errorCode,
  String(line.each),
  String(line.messages),
  String(line.segments),
  line.currency && (line.cost / millionths).toFixed(6),
  line.currency,
]
