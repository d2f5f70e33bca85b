/** Accepting alone: Heliogram's durable 202 against a plain server on the same PostgreSQL, in turns. */
import { compare, runInTurns, type Comparison, type Pair } from './comparison.ts'
import { moveProduct } from './cores.ts'
import { queryOnce, slowFsync, startDatabase, type BenchDatabase } from './database.ts'
import { createAcceptingHeliogram } from './heliogram.ts'
import type { LoadInput, LoadOutput } from './load.ts'
import type { Memory, Options } from './options.ts'
import { countPlain, plainTable } from './plain-table.ts'
import { readCpuSeconds, waitUntilQuiet } from './product.ts'
import type { RequestShape } from './request.ts'
import { quantile } from './tally.ts'
import { startWorker, type Worker } from './worker.ts'

type Acceptor = {
  name: string
  request: RequestShape
  rootPids: number[]
  countStored?: () => Promise<number>
  stop(): Promise<void>
}
type Accepted = { perSecond: number; cpuUsPerMessage: number; p50Ms: number; p99Ms: number }

export type Rival = 'same server' | 'insert' | 'insert, slow fsync' | 'no database'

const ungrouped = new URL('./ungrouped.ts', import.meta.url).href

/** The goal against each rival, and whether it stores messages. */
const rivals: Record<Rival, { goal: string; isStoring: boolean }> = {
  'same server': { goal: '≥ 3', isStoring: true },
  insert: { goal: '≥ 3', isStoring: true },
  'insert, slow fsync': { goal: '≥ 6', isStoring: true },
  'no database': { goal: '≥ 0.9', isStoring: false },
}

export async function compareAccept(options: Options, rival: Rival): Promise<Comparison[]> {
  const database = await startDatabase(rival === 'insert, slow fsync' ? slowFsync : {})
  const load = startWorker('./load.ts')
  const started: Acceptor[] = []
  try {
    const ours = await startOurs(database, options.memory)
    started.push(ours)
    const plain =
      rival === 'same server' ? await startUngrouped(database) : await startPlain(database, rivals[rival].isStoring)
    started.push(plain)
    for (const { rootPids } of started) moveProduct(rootPids)
    const sizes = new Map<Acceptor, number>()
    for (const acceptor of started) {
      await accept(load, acceptor, 5000, options)
      const { perSecond } = await accept(load, acceptor, 10_000, options)
      sizes.set(acceptor, Math.ceil((perSecond * options.seconds) / 1000) * 1000)
    }
    const acceptors = { ours, theirs: plain }
    const pairs = await runInTurns(options.pairs, async (side) => {
      const result = await accept(load, acceptors[side], sizes.get(acceptors[side]) ?? 0, options)
      console.log(
        `${acceptors[side].name}: ${Math.round(result.perSecond)}/s, ${Math.round(result.cpuUsPerMessage)} µs CPU`,
      )
      return result
    })
    return compareAll(pairs, rivals[rival].goal)
  } finally {
    for (const acceptor of started.reverse()) await acceptor.stop()
    await load.stop()
    await database.stop()
  }
}

function compareAll(pairs: Pair<Accepted>[], goal: string): Comparison[] {
  const perSecond = { unit: 'messages/s', goal, better: 'more' } as const
  const cpu = { unit: 'µs/message', better: 'less' } as const
  const ms = { unit: 'ms', better: 'less' } as const
  return [
    compare(pairs, { what: 'durable accept', ...perSecond }, (result) => result.perSecond),
    compare(pairs, { what: 'CPU of all its processes', ...cpu }, (result) => result.cpuUsPerMessage),
    compare(pairs, { what: 'request to 202, p50', ...ms }, (result) => result.p50Ms),
    compare(pairs, { what: 'request to 202, p99', ...ms }, (result) => result.p99Ms),
  ]
}

let nextBase = 0

/** One closed-loop run; throws unless every request got 202 and every message is stored. */
async function accept(load: Worker, acceptor: Acceptor, size: number, options: Options): Promise<Accepted> {
  await waitUntilQuiet(acceptor.rootPids)
  const storedBefore = await acceptor.countStored?.()
  const cpuBefore = readCpuSeconds(acceptor.rootPids)
  const input: LoadInput = {
    shape: acceptor.request,
    base: nextBase,
    size,
    connections: options.connections,
    accepted: 202,
  }
  nextBase += size
  const output = await load.ask<LoadOutput>('run', input)
  await waitUntilQuiet(acceptor.rootPids)
  const cpuSeconds = readCpuSeconds(acceptor.rootPids) - cpuBefore
  const storedAfter = await acceptor.countStored?.()
  const stored = storedAfter === undefined ? size : storedAfter - (storedBefore ?? 0)
  if (output.accepted !== size || stored !== size) {
    const { accepted, statuses, refusals } = output
    throw new Error(`${acceptor.name}: of ${size}, ${JSON.stringify({ accepted, stored, statuses, refusals })}`)
  }
  const latencies = Array.from(output.answerMs, (atMs, index) => atMs - (output.sentMs[index] ?? 0))
  return {
    perSecond: (size / (output.lastMs - output.firstMs)) * 1000,
    cpuUsPerMessage: (cpuSeconds * 1e6) / size,
    p50Ms: quantile(latencies, 0.5),
    p99Ms: quantile(latencies, 0.99),
  }
}

async function startOurs(database: BenchDatabase, memory: Memory): Promise<Acceptor> {
  const running = await createAcceptingHeliogram(database, memory).start({ carrierPort: 1, receiverPort: 1 })
  return { name: 'Heliogram', ...running, countStored: () => running.countLeft() }
}

async function startUngrouped(database: BenchDatabase): Promise<Acceptor> {
  const env = { NODE_OPTIONS: `--import ${ungrouped}` }
  const running = await createAcceptingHeliogram(database, 'normal', env).start({ carrierPort: 1, receiverPort: 1 })
  await queryOnce(running.databaseUrl, plainTable)
  return { name: 'one INSERT each', ...running, countStored: () => queryOnce(running.databaseUrl, countPlain) }
}

async function startPlain(database: BenchDatabase, isStoring: boolean): Promise<Acceptor> {
  const databaseUrl = isStoring ? await database.createDatabase('plain') : undefined
  const server = startWorker('./insert.ts')
  const port = await server.ask<number>('listen', { databaseUrl })
  return {
    name: 'Fastify',
    request: {
      port,
      method: 'POST',
      path: '/v1/messages/send',
      headers: { authorization: 'Bearer bench', 'content-type': 'application/json' },
      body: '{"to":"{to}","message":"Heliogram benchmark message {number}"}',
    },
    rootPids: [server.pid, ...(isStoring ? [database.pid] : [])],
    ...(databaseUrl !== undefined && {
      countStored: () => queryOnce(databaseUrl, countPlain),
    }),
    stop: () => server.stop(),
  }
}
