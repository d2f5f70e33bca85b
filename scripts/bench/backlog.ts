/** A backlog: messages accepted while the carrier was away are drained by the queue when it returns. */
import { moveProduct } from './cores.ts'
import { startDatabase } from './database.ts'
import { apiOf, createHeliogram, enableCarrier } from './heliogram.ts'
import type { LoadOutput } from './load.ts'
import type { Options } from './options.ts'
import { readCpuSeconds, waitUntilQuiet, type Running } from './product.ts'
import type { Figure } from './report.ts'
import { runOnce, runThrough, startStage, stopStage, takeNumbers, type Stage } from './run.ts'
import { quantile } from './tally.ts'
import { nowMs } from './worker.ts'

const messagesPerSecond = 4000

export async function measureBacklogs({ pairs, seconds, connections }: Options): Promise<Figure[]> {
  const database = await startDatabase()
  const stage = await startStage()
  const heliogram = await createHeliogram(database).start(stage.ends)
  try {
    moveProduct(heliogram.rootPids)
    await runOnce(stage, heliogram, { size: 20_000, connections })
    const size = seconds * messagesPerSecond
    const runs: { perSecond: number; cpuUs: number }[] = []
    for (let run = 0; run < pairs; run++) runs.push(await drainOnce(stage, heliogram, { size, connections }))
    const median = (read: (run: (typeof runs)[number]) => number): number => quantile(runs.map(read), 0.5)
    const figure = (what: string, value: string): Figure => ({ what, value, goal: '', isMet: true })
    return [
      figure(
        `from the carrier's return to the last callback of ${size.toLocaleString('en-US')} messages`,
        `${Math.round(median((run) => run.perSecond))} messages/s`,
      ),
      figure('CPU of all processes meanwhile', `${Math.round(median((run) => run.cpuUs))} µs/message`),
    ]
  } finally {
    await heliogram.stop()
    await stopStage(stage)
    await database.stop()
  }
}

async function drainOnce(
  stage: Stage,
  product: Running,
  { size, connections }: { size: number; connections: number },
): Promise<{ perSecond: number; cpuUs: number }> {
  const api = apiOf(product)
  await enableCarrier(api, false)
  const run = takeNumbers(size)
  let [beganAt, cpuBefore] = [0, 0]
  const { receiver } = await runThrough(stage, product, run, async () => {
    const input = { ...run, connections, shape: product.request, accepted: product.acceptedStatus }
    const sent = await stage.load.ask<LoadOutput>('run', input)
    await waitUntilQuiet(product.rootPids)
    ;[beganAt, cpuBefore] = [nowMs(), readCpuSeconds(product.rootPids)]
    await enableCarrier(api, true)
    return sent
  })
  const cpuUs = ((readCpuSeconds(product.rootPids) - cpuBefore) * 1e6) / size
  const perSecond = (size / (receiver.lastMs - beganAt)) * 1000
  console.log(`${Math.round(perSecond)}/s, ${Math.round(cpuUs)} µs CPU`)
  return { perSecond, cpuUs }
}
