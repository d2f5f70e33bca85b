/**
 * What authentication and limits add to the CPU of an accept: the running service against itself without them (unguarded.ts), turn by turn;
 * and, because so few percent are within the noise of the turns, what the functions themselves take (guardcost.ts).
 */
import { accept, type Acceptor } from './accept.ts'
import { runInTurns, type Pair } from './comparison.ts'
import { moveProduct } from './cores.ts'
import { queryOnce, startDatabase, type BenchDatabase } from './database.ts'
import { measureGuard } from './guardcost.ts'
import { createAcceptingHeliogram, keyOf } from './heliogram.ts'
import type { Options } from './options.ts'
import { readCpuSeconds } from './product.ts'
import type { Figure } from './report.ts'
import { quantile } from './tally.ts'
import { startWorker } from './worker.ts'

const unguarded = new URL('./unguarded.ts', import.meta.url).href

const goal = 0.1
// More than a machine accepts, yet not so much that its part is too little to be shared with other processes (rate-shares.ts).
const perSecond = 100_000

/** CPU of an accept in µs: of all processes, and of Node's. */
interface Cost {
  all: number
  node: number
}

/** Measures both sides in turns, then the functions. */
export async function measureLimits(options: Options): Promise<Figure[]> {
  const database = await startDatabase()
  const load = startWorker('./load.ts')
  const started: Service[] = []
  try {
    const ours = await startService(database, true)
    started.push(ours)
    const theirs = await startService(database, false)
    started.push(theirs)
    const services = { ours, theirs }
    for (const { rootPids } of started) moveProduct(rootPids)
    let size = 5000
    for (const service of started) {
      await accept(load, service, 5000, options)
      const { perSecond: accepted } = await accept(load, service, 10_000, options)
      // Both get the same load: their batches are alike, and so is the number of rows that they find.
      size = Math.max(size, Math.ceil((accepted * options.seconds) / 1000) * 1000)
    }
    const pairs = await runInTurns(options.pairs, async (side): Promise<Cost> => {
      const service = services[side]
      const before = readCpuSeconds([service.pid])
      const { cpuUsPerMessage: all, perSecond: accepted } = await accept(load, service, size, options)
      const node = ((readCpuSeconds([service.pid]) - before) * 1e6) / size
      console.log(`${service.name}: ${Math.round(accepted)}/s, ${all.toFixed(1)} µs CPU, Node's ${node.toFixed(1)} µs`)
      return { all, node }
    })
    return [...figuresOf(pairs), ...(await figuresOfGuard(ours, pairs))]
  } finally {
    for (const service of started.reverse()) await service.stop()
    await load.stop()
    await database.stop()
  }
}

function figuresOf(pairs: Pair<Cost>[]): Figure[] {
  const median = (read: (pair: Pair<Cost>) => number): number => quantile(pairs.map(read), 0.5)
  const describe = (name: string, kind: keyof Cost, isGoal: boolean): Figure => {
    const added = pairs.map(({ ours, theirs }) => ours[kind] / theirs[kind] - 1)
    const share = quantile(added, 0.5)
    const range = `${percent(Math.min(...added))} to ${percent(Math.max(...added))}`
    const [with_, without] = [median(({ ours }) => ours[kind]), median(({ theirs }) => theirs[kind])]
    return {
      what: `${name}: ${with_.toFixed(1)} µs with, ${without.toFixed(1)} µs without; added, median of ${pairs.length} pairs (${range})`,
      value: percent(share),
      goal: isGoal ? `≤ ${percent(goal)}` : '',
      isMet: !isGoal || share <= goal,
    }
  }
  return [describe('CPU of an accept', 'all', true), describe("of it Node's", 'node', false)]
}

async function figuresOfGuard({ url, key }: Service, pairs: Pair<Cost>[]): Promise<Figure[]> {
  const cost = await measureGuard(url, key)
  const all = quantile(
    pairs.map(({ ours }) => ours.all),
    0.5,
  )
  const sum = Object.values(cost).reduce((total, us) => total + us, 0)
  const share = sum / (all - sum)
  const line = (what: string, us: number): Figure => ({ what, value: `${us.toFixed(2)} µs`, goal: '', isMet: true })
  return [
    line('by itself: authenticating a key that is remembered', cost.authenticate),
    line('by itself: taking a request, and setting `RateLimit` and `RateLimit-Policy`', cost.take),
    line('by itself: writing the two fields into the head of the answer', cost.write),
    {
      what: `by themselves, together: ${sum.toFixed(2)} µs, added to an accept of ${all.toFixed(1)} µs`,
      value: percent(share),
      goal: `≤ ${percent(goal)}`,
      isMet: share <= goal,
    },
  ]
}

const percent = (share: number): string => `${(share * 100).toFixed(share === goal ? 0 : 1)} %`

/** A running Heliogram that accepts and submits nothing. */
interface Service extends Acceptor {
  url: string
  key: string
  /** Node's process. */
  pid: number
}

/** Starts it as `npm start` does, with its guard or without. */
async function startService(database: BenchDatabase, isGuarded: boolean): Promise<Service> {
  const running = await createAcceptingHeliogram(database, 'normal', {
    HELIOGRAM_API_PER_SECOND: String(perSecond),
    ...(!isGuarded && { NODE_OPTIONS: `--import ${unguarded}` }),
  }).start({ carrierPort: 1, receiverPort: 1 })
  try {
    await checkGuard(`http://127.0.0.1:${running.request.port}/v1/carriers`, isGuarded)
  } catch (error) {
    await running.stop()
    throw error
  }
  const url = running.databaseUrl
  return {
    ...running,
    name: isGuarded ? 'guarded' : 'unguarded',
    url,
    key: keyOf(running),
    pid: running.rootPids[0] ?? 0,
    countStored: () => queryOnce(url, 'select count(*) from messages'),
  }
}

/** Throws unless a stranger is refused and told the limit, or neither. */
async function checkGuard(url: string, isGuarded: boolean): Promise<void> {
  const { status, headers } = await fetch(url)
  if (status !== (isGuarded ? 401 : 200) || headers.has('ratelimit') !== isGuarded)
    throw new Error(`a stranger is answered ${status} where the guard is ${isGuarded ? 'in' : 'out'}`)
}
