/**
 * A database with the partitions of four hundred days, the default retention, against a new one: the cost of age. The days are empty; lists.ts
 * measures full ones.
 */
import { openPool } from '../../server/ground/db/db.ts'
import { migrate } from '../../server/ground/db/migrate.ts'
import { ensurePartitions } from '../../server/ground/db/partitions.ts'
import { compare, runInTurns, type Comparison, type Side } from './comparison.ts'
import { moveProduct } from './cores.ts'
import { startDatabase, type BenchDatabase } from './database.ts'
import { apiOf, createHeliogram, type Api } from './heliogram.ts'
import type { Options } from './options.ts'
import { readRestPercent, type Running } from './product.ts'
import { runOnce, startStage, stopStage } from './run.ts'
import { quantile } from './tally.ts'

/** The default retention of messages. */
export const keptDays = 400

const dayMs = 86_400_000
const asks = 20

interface Result {
  messagesPerSecond: number
  cpuUsPerMessage: number
  /** CPU at rest, in percent of a core. */
  restPercent: number
  listMs: number
  eventsMs: number
  deliveriesMs: number
  cancelMs: number
}

/** Each side has its own PostgreSQL, so that neither pays for the other's idle load. */
export async function compareDays({ pairs, seconds, connections }: Options): Promise<Comparison[]> {
  const [aged, young] = [await startDatabase(), await startDatabase()]
  const stage = await startStage()
  const started: Running[] = []
  const start = async (database: BenchDatabase): Promise<Running> => {
    const running = await createHeliogram(database).start(stage.ends)
    started.push(running)
    moveProduct(running.rootPids)
    return running
  }
  try {
    const createDatabase = async (name: string): Promise<string> => makeDays(await aged.createDatabase(name))
    const products = { ours: await start({ ...aged, createDatabase }), theirs: await start(young) }
    for (const side of ['ours', 'theirs'] as const) await runOnce(stage, products[side], { size: 20_000, connections })
    const { messagesPerSecond } = await runOnce(stage, products.theirs, { size: 20_000, connections })
    const size = Math.ceil((messagesPerSecond * seconds) / 1000) * 1000
    const run = async (side: Side): Promise<Result> => {
      const product = products[side]
      const full = await runOnce(stage, product, { size, connections })
      const result = { ...full, ...(await ask(apiOf(product))), restPercent: await readRestPercent(product) }
      console.log(`${side}: ${JSON.stringify(result)}`)
      return result
    }
    const results = await runInTurns(pairs, run)
    const ms = { unit: 'ms', better: 'less' } as const
    return [
      compare(
        results,
        { what: 'end to end', unit: 'messages/s', goal: '≥ 0.9', better: 'more' },
        (one) => one.messagesPerSecond,
      ),
      compare(results, { what: 'CPU', unit: 'µs/message', better: 'less' }, (one) => one.cpuUsPerMessage),
      compare(results, { what: 'at rest', unit: '% of a core', better: 'less' }, (one) => one.restPercent),
      compare(results, { what: 'a page of messages', ...ms }, (one) => one.listMs),
      compare(results, { what: 'a page of events', ...ms }, (one) => one.eventsMs),
      compare(results, { what: "a page of a webhook's deliveries", ...ms }, (one) => one.deliveriesMs),
      compare(results, { what: 'canceling a scheduled message', ...ms }, (one) => one.cancelMs),
    ]
  } finally {
    for (const running of started.reverse()) await running.stop()
    await stopStage(stage)
    await Promise.all([aged.stop(), young.stop()])
  }
}

const quiet = { info: () => {}, warn: () => {}, error: () => {} }

async function makeDays(url: string): Promise<string> {
  await migrate({ connectionString: url }, { log: quiet })
  const db = openPool({ connectionString: url }, { name: 'days', max: 1, queryTimeoutMs: 0 })
  for (let day = keptDays; day >= 0; day -= 8) await ensurePartitions(db, quiet, Date.now() - day * dayMs)
  await db.end()
  return url
}

async function ask(api: Api): Promise<Pick<Result, 'listMs' | 'eventsMs' | 'deliveriesMs' | 'cancelMs'>> {
  const webhooks = (await api('GET', '/v1/webhooks'))?.['data'] as { id: string }[]
  const sendAt = new Date(Date.now() + dayMs).toISOString()
  const scheduled: string[] = []
  for (let n = 0; n < asks; n++) {
    const sent = await api('POST', '/v1/messages', { to: '15551230001', message: 'Later', send_at: sendAt })
    scheduled.push(String(sent?.['id']))
  }
  return {
    listMs: await time(() => api('GET', '/v1/messages')),
    eventsMs: await time(() => api('GET', '/v1/events')),
    deliveriesMs: await time(() => api('GET', `/v1/webhooks/${webhooks[0]?.id}/deliveries`)),
    cancelMs: await time((n) => api('POST', `/v1/messages/${scheduled[n]}/cancel`)),
  }
}

async function time(request: (n: number) => Promise<unknown>): Promise<number> {
  const tookMs: number[] = []
  for (let n = 0; n < asks; n++) {
    const startedAt = performance.now()
    await request(n)
    tookMs.push(performance.now() - startedAt)
  }
  return quantile(tookMs, 0.5)
}
