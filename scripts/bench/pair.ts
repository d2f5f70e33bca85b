/** End to end, in turns: HTTP client → product → carrier → receipt a second later → one callback per message. Its CPU at rest is taken off. */
import { besideKannel } from './beside-kannel.ts'
import { compare, runInTurns, type Comparison, type Pair } from './comparison.ts'
import type { BenchDatabase } from './database.ts'
import { createHeliogram } from './heliogram.ts'
import type { Options } from './options.ts'
import { readMemory, readRestPercent, type Running } from './product.ts'
import { runOnce, type Result, type Stage } from './run.ts'

/** Messages a second at which nothing queues; most installations send so many. */
const lowRates = [1, 10, 50, 200]

/** Also returns our process's peak memory. */
export function comparePairs(options: Options): Promise<{ rows: Comparison[]; memoryMb: number }> {
  const create = (database: BenchDatabase) => createHeliogram(database, options.memory)
  return besideKannel(create, async (stage, products) => {
    const { ours, theirs } = products
    const sizes = { ours: await warmUp(stage, ours, options), theirs: await warmUp(stage, theirs, options) }
    const rest = { ours: await readRestPercent(ours), theirs: await readRestPercent(theirs) }
    const { pairs, connections } = options
    const full = await runInTurns(pairs, async (side) => {
      const result = await runOnce(stage, products[side], { size: sizes[side], connections, restPercent: rest[side] })
      console.log(`${side}: ${describe(result)}`)
      return result
    })
    return { rows: compareAll(full), memoryMb: readMemory(ours, 'VmHWM') }
  })
}

const ms = { unit: 'ms', better: 'less' } as const
const cpu = { unit: 'µs/message', better: 'less' } as const

function compareAll(full: Pair<Result>[]): Comparison[] {
  const perSecond = { unit: 'messages/s', better: 'more' } as const
  return [
    compare(full, { what: 'end to end', goal: '≥ 2', ...perSecond }, (result) => result.messagesPerSecond),
    compare(full, { what: 'accepted', ...perSecond }, (result) => result.acceptedPerSecond),
    compare(full, { what: 'CPU of all its processes', ...cpu }, (result) => result.cpuUsPerMessage),
  ]
}

/** Rest, and few messages a second. */
export function compareLow({ pairs, connections, seconds, memory }: Options): Promise<Comparison[]> {
  const create = (database: BenchDatabase) => createHeliogram(database, memory)
  return besideKannel(create, async (stage, products) => {
    for (const product of [products.ours, products.theirs]) await runOnce(stage, product, { size: 5000, connections })
    const results = await runInTurns(pairs, async (side) => {
      const restPercent = await readRestPercent(products[side])
      const runs: Result[] = []
      for (const perSecond of lowRates) {
        // A connection without requests is closed.
        const few = Math.min(connections, perSecond)
        const input = { size: perSecond * seconds, connections: few, perSecond, restPercent }
        const result = await runOnce(stage, products[side], input)
        console.log(`${side} at ${perSecond}/s: ${describe(result)}`)
        runs.push(result)
      }
      return { restPercent, runs }
    })
    const row = (what: string, unit: typeof ms | typeof cpu, i: number, read: (run: Result) => number) =>
      compare(results, { what: `at ${lowRates[i]}/s: ${what}`, ...unit }, ({ runs }) => read(runs[i] as Result))
    return [
      compare(results, { what: 'idle', unit: '% of a core', better: 'less' }, (result) => result.restPercent),
      ...lowRates.flatMap((_, i) => [
        row('CPU', cpu, i, (run) => run.cpuUsPerMessage),
        row('request to callback, p50', ms, i, (run) => run.callbackMs.p50),
        row('request to callback, p99', ms, i, (run) => run.callbackMs.p99),
        row('request to 202, p50', ms, i, (run) => run.acceptMs.p50),
        row('request to 202, p99', ms, i, (run) => run.acceptMs.p99),
      ]),
    ]
  })
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
