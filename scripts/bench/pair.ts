/** End to end, in turns: HTTP client → product → carrier → receipt a second later → one callback per message. */
import { besideKannel } from './beside-kannel.ts'
import { compare, runInTurns, type Comparison, type Pair, type Side } from './comparison.ts'
import type { BenchDatabase } from './database.ts'
import { createHeliogram } from './heliogram.ts'
import type { Options } from './options.ts'
import { readMemory, type Running } from './product.ts'
import { runOnce, type Result, type Stage } from './run.ts'

/** Latency is measured well below either side's limit, where nothing queues. */
const pacedPerSecond = 200

/** Runs the pairs of throughput, then those of latency; also returns our process's peak memory. */
export function comparePairs(options: Options): Promise<{ rows: Comparison[]; memoryMb: number }> {
  const create = (database: BenchDatabase) => createHeliogram(database, options.memory)
  return besideKannel(create, async (stage, products) => {
    const { ours, theirs } = products
    const sizes = { ours: await warmUp(stage, ours, options), theirs: await warmUp(stage, theirs, options) }
    const { pairs, connections, seconds } = options
    const run = (perSecond?: number) => async (side: Side) => {
      const size = perSecond === undefined ? sizes[side] : perSecond * seconds
      const result = await runOnce(stage, products[side], { size, connections, ...(perSecond && { perSecond }) })
      console.log(`${side}: ${describe(result)}`)
      return result
    }
    const full = await runInTurns(pairs, run())
    const memoryMb = readMemory(ours, 'VmHWM')
    return { rows: compareAll(full, await runInTurns(pairs, run(pacedPerSecond))), memoryMb }
  })
}

function compareAll(full: Pair<Result>[], paced: Pair<Result>[]): Comparison[] {
  const ms = { unit: 'ms', better: 'less' } as const
  const perSecond = { unit: 'messages/s', better: 'more' } as const
  const cpu = { unit: 'µs/message', better: 'less' } as const
  const at = `at ${pacedPerSecond}/s:`
  return [
    compare(full, { what: 'end to end', goal: '≥ 2', ...perSecond }, (result) => result.messagesPerSecond),
    compare(full, { what: 'accepted', ...perSecond }, (result) => result.acceptedPerSecond),
    compare(full, { what: 'CPU of all its processes', ...cpu }, (result) => result.cpuUsPerMessage),
    compare(paced, { what: `${at} request to callback, p50`, ...ms }, (result) => result.callbackMs.p50),
    compare(paced, { what: `${at} request to callback, p99`, ...ms }, (result) => result.callbackMs.p99),
    compare(paced, { what: `${at} request to 202, p50`, ...ms }, (result) => result.acceptMs.p50),
    compare(paced, { what: `${at} request to 202, p99`, ...ms }, (result) => result.acceptMs.p99),
    compare(paced, { what: `${at} CPU`, ...cpu }, (result) => result.cpuUsPerMessage),
  ]
}

/** Warms caches and compilers; returns how many messages fill `seconds`: in runs of equal length the delay weighs the same. */
async function warmUp(stage: Stage, product: Running, options: Options): Promise<number> {
  const { connections } = options
  await runOnce(stage, product, { size: 5000, connections })
  const { messagesPerSecond } = await runOnce(stage, product, { size: 20_000, connections })
  return Math.ceil((messagesPerSecond * options.seconds) / 1000) * 1000
}

function describe(result: Result): string {
  const { messagesPerSecond, acceptedPerSecond, cpuUsPerMessage, callbackMs, acceptMs } = result
  return [
    `${Math.round(messagesPerSecond)}/s end to end, ${Math.round(acceptedPerSecond)}/s accepted`,
    `${Math.round(cpuUsPerMessage)} µs CPU`,
    `callback p50 ${callbackMs.p50.toFixed(1)} p99 ${callbackMs.p99.toFixed(1)} ms`,
    `202 p50 ${acceptMs.p50.toFixed(1)} p99 ${acceptMs.p99.toFixed(1)} ms`,
  ].join(', ')
}
