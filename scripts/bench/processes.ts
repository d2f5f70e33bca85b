/** One, two and four processes with all roles on one database: what a message costs, by part. */
import { moveProduct } from './cores.ts'
import { queryOnce, startDatabase } from './database.ts'
import { createHeliogram, startBeside } from './heliogram.ts'
import type { Options } from './options.ts'
import { readCpuSeconds } from './product.ts'
import type { Figure } from './report.ts'
import { runOnce, startStage, stopStage } from './run.ts'
import { quantile } from './tally.ts'

const processCounts = [1, 2, 4]

export async function measureProcesses({ pairs, seconds, connections }: Options): Promise<Figure[]> {
  const database = await startDatabase()
  const stage = await startStage()
  const first = await createHeliogram(database).start(stage.ends)
  const stops: (() => Promise<void>)[] = []
  const product = { ...first, request: { ...first.request, ports: [first.request.port] } }
  const read = (query: string): Promise<number> => queryOnce(first.databaseUrl, query)
  try {
    const figures: Figure[] = []
    for (const count of processCounts) {
      while (product.request.ports.length < count) {
        const beside = await startBeside(first)
        stops.push(() => beside.stop())
        product.request.ports.push(beside.port)
        product.rootPids.push(beside.pid)
      }
      moveProduct(product.rootPids)
      const { messagesPerSecond } = await runOnce(stage, product, { size: 20_000, connections })
      const size = Math.ceil((messagesPerSecond * seconds) / 1000) * 1000
      const runs: Run[] = []
      for (let run = 0; run < pairs; run++) {
        const [wal, commits, server] = [await read(walQuery), await read(commitsQuery), readCpuSeconds([database.pid])]
        const result = await runOnce(stage, product, { size, connections })
        runs.push({
          messagesPerSecond: result.messagesPerSecond,
          cpuUs: result.cpuUsPerMessage,
          databaseUs: ((readCpuSeconds([database.pid]) - server) * 1e6) / size,
          walBytes: ((await read(walQuery)) - wal) / size,
          commits: ((await read(commitsQuery)) - commits) / size,
        })
        console.log(`${count} processes: ${JSON.stringify(runs.at(-1))}`)
      }
      figures.push(...describe(count, runs))
    }
    return figures
  } finally {
    for (const stop of stops.reverse()) await stop()
    await first.stop()
    await stopStage(stage)
    await database.stop()
  }
}

const walQuery = `select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')`
const commitsQuery = 'select xact_commit from pg_stat_database where datname = current_database()'

interface Run {
  messagesPerSecond: number
  cpuUs: number
  /** The part of PostgreSQL. */
  databaseUs: number
  walBytes: number
  commits: number
}

function describe(count: number, runs: readonly Run[]): Figure[] {
  const median = (of: (run: Run) => number): number => quantile(runs.map(of), 0.5)
  const name = count === 1 ? '1 process' : `${count} processes`
  const figure = (what: string, value: string): Figure => ({ what: `${name}: ${what}`, value, goal: '', isMet: true })
  return [
    figure('end to end', `${Math.round(median((run) => run.messagesPerSecond))} messages/s`),
    figure(
      "CPU, and PostgreSQL's part of it",
      `${Math.round(median((run) => run.cpuUs))}, ${Math.round(median((run) => run.databaseUs))} µs/message`,
    ),
    figure('write-ahead log', `${Math.round(median((run) => run.walBytes))} bytes/message`),
    figure('transactions', `${median((run) => run.commits).toFixed(2)} a message`),
  ]
}
