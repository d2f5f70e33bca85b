/**
 * npm run test:ha: two processes under load on a PostgreSQL of three members under Patroni, whose leader is lost in every way; after each leg the
 * books of client, ledger, carrier and receiver must agree (conservation.ts). `--help` lists the options.
 */
import { join } from 'node:path'
import { readOptions } from '../../scripts/options.ts'
import { openPool, type Db } from '../../server/ground/db/db.ts'
import { CarrierProcess, setUpCarrier } from '../carrier.ts'
import { Client } from '../client.ts'
import { checkConservation, summarise, type Request } from '../conservation.ts'
import { startProgram, type Program } from '../harness.ts'
import { Load, seededRandom } from '../load.ts'
import { Receiver } from '../receiver.ts'
import { until } from '../until.ts'
import { gatherEvidence } from '../evidence.ts'
import { Cluster } from './cluster.ts'
import { EventReader } from './event-reader.ts'
import { legs } from './legs.ts'
import { fetchInto, findInstalled, MissingPackagesError } from './packages.ts'

const help = `npm run test:ha [-- options]
Starts etcd and Patroni with PostgreSQL, three of each, in strict synchronous mode; two processes of Heliogram over them, a carrier, and a client's
server; loses the leader of the database under load, and compares what everybody knows afterwards. Ends with 1 where they do not agree, and
with 2 where it cannot begin. Takes about five minutes.
  --leg LIST   only these, of:
${Object.entries(legs)
  .map(([name, { what }]) => `                 ${name.padEnd(12)} ${what}`)
  .join('\n')}
  --rate N     messages a second (100)
  --seed N     what chance begins with (random)
  --fetch      download what is not installed of etcd, Patroni and PostgreSQL from Debian, for this run alone
`

interface Row {
  leg: string
  gapMs: number
  accepted: number
  lost: number
  twice: number
  wrong: string[]
}

interface World {
  cluster: Cluster
  carrier: CarrierProcess
  programs: Program[]
  receiver: Receiver
  reader: EventReader
  client: Client
  db: Db
  random: () => number
  requests: Request[]
}

const values = readOptions(help, {
  leg: { type: 'string', default: Object.keys(legs).join() },
  rate: { type: 'string', default: '100' },
  seed: { type: 'string', default: String(Math.floor(Math.random() * 1e9)) },
  fetch: { type: 'boolean', default: false },
})
const closing: (() => Promise<unknown>)[] = []
process.exitCode = await main()

async function main(): Promise<number> {
  const names = values.leg.split(',')
  const unknown = names.filter((name) => !(name in legs))
  const [rate, seed] = [Number(values.rate), Number(values.seed)]
  if (unknown.length > 0) return refuse(`--leg: there is no ${unknown.join()}; there are ${Object.keys(legs).join()}`)
  if (!(rate >= 1 && rate <= 1000)) return refuse(`--rate must be a number from 1 to 1000, not "${values.rate}"`)
  if (!Number.isSafeInteger(seed)) return refuse(`--seed must be a whole number, not "${values.seed}"`)
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => void close().then(() => process.exit(130)))
  try {
    console.log(`seed ${seed}`)
    const world = await openWorld(seededRandom(seed))
    const rows: Row[] = []
    for (const [i, name] of names.entries()) {
      const row = await runLeg(world, name, { rate, from: i * 1e6 })
      rows.push(row)
      console.log(tell(row))
      for (const violation of row.wrong) console.log(`  ${violation}`)
    }
    console.log(`\n${table(rows)}`)
    return rows.every(({ wrong }) => wrong.length === 0) ? 0 : 1
  } catch (error) {
    if (error instanceof MissingPackagesError) return refuse(error.message)
    throw error
  } finally {
    await close()
  }
}

function refuse(message: string): number {
  console.error(message)
  return 2
}

async function close(): Promise<void> {
  for (const end of closing.splice(0).toReversed()) await end().catch((error: unknown) => console.error(String(error)))
}

async function openWorld(random: () => number): Promise<World> {
  const folder = await Cluster.makeFolder()
  closing.push(() => Cluster.removeFolder(folder))
  const programsOfDebian = values.fetch ? await fetchInto(join(folder, 'packages')) : findInstalled()
  const startedAt = performance.now()
  const cluster = await Cluster.start(programsOfDebian, folder)
  closing.push(() => cluster.close())
  console.log(`the cluster is whole after ${seconds(performance.now() - startedAt)} s`)
  const carrier = await CarrierProcess.start(['--response-latency', '1-40', '--receipt-latency', '50-400'])
  closing.push(() => carrier.close())
  const programs: Program[] = []
  for (let i = 0; i < 2; i++) {
    const program = await startProgram({
      env: {
        DATABASE_URL: cluster.url,
        HELIOGRAM_CARRIER_URL: carrier.url,
        HELIOGRAM_WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8',
        HELIOGRAM_KEY_FILE: programs[0] && join(programs[0].dataFolder, 'key'),
      },
    })
    closing.push(() => program.remove())
    if (programs[0]) program.client.key = programs[0].client.key
    else await setUpCarrier(program.client)
    programs.push(program)
  }
  const [one] = programs
  if (!one) throw new Error('two processes were to be started')
  await one.client.expect('PATCH', `/v1/carriers/${(await one.client.carrier()).id}`, { settings: { sessions: 2 } })
  const address = (): string => programs[Math.floor(random() * programs.length)]?.address ?? ''
  const client = new Client(address, one.client.key)
  const receiver = await Receiver.start(client)
  closing.push(() => receiver.close())
  const reader = new EventReader(client)
  closing.push(() => reader.close())
  const db = openPool({ connectionString: cluster.url }, { name: 'ha', max: 2 })
  closing.push(() => db.end())
  return { cluster, carrier, programs, receiver, reader, client, db, random, requests: [] }
}

/** One leg under load, from a whole cluster to the comparison of books. */
async function runLeg(world: World, name: string, { rate, from }: { rate: number; from: number }): Promise<Row> {
  const { cluster, carrier, programs, receiver, reader, client, db, random } = world
  await cluster.untilWhole()
  const recipient = (n: number): string => `1555${String(n % 1000).padStart(3, '0')}1001`
  const load = new Load({ client, rate, recipient, random, from })
  closing.push(() => load.finish())
  const watch = watchAccepts(load)
  const untilAccepting = async (): Promise<void> => {
    const before = load.accepted
    await until('messages are accepted', () => load.accepted > before + rate, 120_000)
  }
  const wrong: string[] = []
  await untilAccepting()
  await legs[name]?.run({ cluster, programs, random, untilAccepting }).catch((error: unknown) => {
    wrong.push(String(error))
  })
  await untilAccepting().catch((error: unknown) => wrong.push(String(error)))
  const gapMs = watch.stop()
  // A post whose commit was not confirmed is free when its lease of a minute ends. Here the lease of posts older than any real one ends now.
  const freed = setInterval(() => {
    db.query(`update outbox set leased_until = now() where leased_until < now() + interval '40 seconds'`).catch(
      () => {},
    )
  }, 1000)
  closing.push(async () => clearInterval(freed))
  const all = await gatherEvidence({ load, db, carrier, receiver })
  clearInterval(freed)
  world.requests.push(...load.requests)
  const violations = [...checkConservation({ ...all, requests: world.requests }), ...(await reader.check(all.ledger))]
  const count = (...laws: string[]): number => violations.filter((one) => laws.includes(one.split(':')[0] ?? '')).length
  wrong.push(...summarise(violations), ...load.impolite.slice(0, 3), ...receiver.refused.slice(0, 3))
  for (const [status, times] of load.refusals) if (status !== 503) wrong.push(`${times} answers were ${status}`)
  return { leg: name, gapMs, accepted: load.accepted, lost: count('L1'), twice: count('L7', 'L8'), wrong }
}

/** The longest time without an accepted message, in milliseconds. */
function watchAccepts(load: Load): { stop(): number } {
  let [accepted, since, longest] = [load.accepted, performance.now(), 0]
  const look = (): void => {
    longest = Math.max(longest, performance.now() - since)
    if (load.accepted > accepted) [accepted, since] = [load.accepted, performance.now()]
  }
  const timer = setInterval(look, 20)
  return {
    stop: () => {
      clearInterval(timer)
      look()
      return longest
    },
  }
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(1)
}

function tell({ leg, gapMs, accepted, lost, twice, wrong }: Row): string {
  const books = wrong.length === 0 ? 'all agree' : 'BROKEN'
  return `${leg}: no accept for ${seconds(gapMs)} s, ${accepted} accepted, ${lost} lost, ${twice} twice; ${books}`
}

function table(rows: readonly Row[]): string {
  return [
    '| What was lost | No accept for | Accepted | Lost | Twice |',
    '|---|---|---|---|---|',
    ...rows.map(
      ({ leg, gapMs, accepted, lost, twice }) =>
        `| ${legs[leg]?.what} | ${seconds(gapMs)} s | ${accepted} | ${lost} | ${twice} |`,
    ),
  ].join('\n')
}
