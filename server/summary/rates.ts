import { nowMs } from '../ground/db/clock.ts'
import type { Queryable } from '../ground/db/db.ts'
import { readSeries, seriesSteps } from '../usage/series.ts'

const measures = ['accepted', 'sent', 'delivered', 'failed', 'replies'] as const
export type Rates = Record<(typeof measures)[number], number>

const stepsOfRate = 3

/** Messages a second of an account, campaign or broadcast, over the last steps that are over. */
export async function readRates(db: Queryable, accountId: string, subject: string): Promise<Rates> {
  const ms = seriesSteps['10s'].seconds * 1000
  const until = Math.floor(nowMs() / ms) * ms
  const span = { step: '10s', since: new Date(until - stepsOfRate * ms), until: new Date(until) } as const
  const rows = await readSeries(db, { accountId, subject }, span)
  const rateOf = (measure: (typeof measures)[number]): number => {
    const count = rows.reduce((sum, row) => sum + row[measure], 0)
    return Math.round((count * 10_000) / (stepsOfRate * ms)) / 10
  }
  return Object.fromEntries(measures.map((measure) => [measure, rateOf(measure)])) as Rates
}
