/** The database executes statements but its responses are lost: nothing may be stranded or done twice. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openPool, type Db } from '../server/ground/db/db.ts'
import type { Disposable } from '../server/ground/db/embedded/disposable.ts'
import { CarrierProcess, setUpCarrier } from './carrier.ts'
import { checkConservation, summarise } from './conservation.ts'
import { startDurable, startProgram, type Program } from './harness.ts'
import { Load, seededRandom } from './load.ts'
import { DatabaseProxy } from './proxy.ts'
import { Receiver } from './receiver.ts'
import { until } from './until.ts'
import { countStatuses, gatherEvidence, seed } from './evidence.ts'

const random = seededRandom(seed)
const cuts = 4

let server: Disposable
let db: Db
let proxy: DatabaseProxy
let carrier: CarrierProcess
let program: Program
let receiver: Receiver

beforeAll(async () => {
  server = await startDurable()
  db = openPool({ connectionString: server.url }, { name: 'journey', max: 1 })
  proxy = await DatabaseProxy.start(server.url)
  carrier = await CarrierProcess.start(['--response-latency', '1-20', '--receipt-latency', '50-200'])
  program = await startProgram({
    env: {
      DATABASE_URL: proxy.url,
      HELIOGRAM_CARRIER_URL: carrier.url,
      HELIOGRAM_WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8',
    },
  })
  await setUpCarrier(program.client)
  receiver = await Receiver.start(program.client)
})

afterAll(async () => {
  await receiver?.close()
  await program?.remove()
  await carrier?.close()
  await proxy?.close()
  await db?.end()
  await server?.close()
})

test(`after ${cuts} cuts between commits and their responses everything is delivered once (SEED=${seed})`, async () => {
  const recipient = (n: number): string => `15552011${String(100 + (n % 800))}`
  const load = new Load({ client: program.client, rate: 300, recipient, random })
  for (let cut = 0; cut < cuts; cut++) {
    const before = load.accepted
    await until('messages are accepted', () => load.accepted > before + 50 + random() * 100)
    await proxy.cut(100)
  }
  await load.finish()
  // A post whose commit was not confirmed is free when its lease of a minute ends. Here the lease of posts older than any real one ends now.
  const posts = async (): Promise<number | null> => {
    await db.query(`update outbox set leased_until = now() where leased_until < now() + interval '40 seconds'`)
    return (await db.query('select from outbox limit 1')).rowCount
  }
  await until('every post is taken', async () => (await posts()) === 0)
  const evidence = await gatherEvidence({ load, db, carrier, receiver })
  const statuses = countStatuses(load, evidence)
  expect(summarise(checkConservation(evidence))).toEqual([])
  expect([...statuses.keys()]).toEqual(['delivered'])
  expect([...load.refusals.keys()]).toEqual([503])
  expect(load.impolite).toEqual([])
}, 300_000)
