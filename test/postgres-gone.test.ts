/** kill -9 of PostgreSQL under load: 503 with Retry-After while it is away, and normal work when it is back. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openPool, type Db } from '../server/ground/db/db.ts'
import { CarrierProcess, setUpCarrier } from './carrier.ts'
import { checkConservation, summarise } from './conservation.ts'
import { startProgram, type Program } from './harness.ts'
import { Load, seededRandom } from './load.ts'
import { Receiver } from './receiver.ts'
import { until, waitFor } from './until.ts'
import { countStatuses, gatherEvidence, seed } from './evidence.ts'

const random = seededRandom(seed)
const kills = 3

let carrier: CarrierProcess
let program: Program
let receiver: Receiver
let db: Db

beforeAll(async () => {
  carrier = await CarrierProcess.start(['--response-latency', '1-20', '--receipt-latency', '50-200'])
  program = await startProgram({
    env: { HELIOGRAM_CARRIER_URL: carrier.url, HELIOGRAM_WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8' },
  })
  await setUpCarrier(program.client)
  receiver = await Receiver.start(program.client)
  db = openPool(await program.connection(), { name: 'journey', max: 1 })
})

afterAll(async () => {
  await db?.end()
  await receiver?.close()
  await program?.remove()
  await carrier?.close()
})

test(`PostgreSQL is killed ${kills} times under load: callers get a retry error, and nothing is lost or sent twice (SEED=${seed})`, async () => {
  const recipient = (n: number): string => `15552011${String(100 + (n % 800))}`
  const startedAt = performance.now()
  const load = new Load({ client: program.client, rate: 300, recipient, random })
  for (let kill = 0; kill < kills; kill++) {
    const before = load.accepted
    await until('messages are accepted', () => load.accepted > before + 100)
    const pid = await program.postgresPid()
    process.kill(pid, 'SIGKILL')
    // Until then the file names the program itself (`disownPidFile`).
    await until('PostgreSQL runs again', async () => ![0, pid, program.pid].includes(await program.postgresPid()))
  }
  const last = load.accepted
  await until('messages are accepted', () => load.accepted > last + 50)
  const evidence = await gatherEvidence({ load, db, carrier, receiver })
  const statuses = countStatuses(load, evidence)
  expect(summarise(checkConservation(evidence))).toEqual([])
  expect(load.impolite).toEqual([])
  // An outage of the database loses no answer of the carrier.
  expect([...statuses.keys()]).toEqual(['delivered'])
  expect([...load.refusals.keys()]).toEqual([503])
  // Each kill cost every connection; the log reports it once a minute.
  const lines = program.stderr.match(/^.*database connection lost.*$/gm) ?? []
  expect(lines[0]).toMatch(/"times":\d+/)
  expect(lines.length).toBeLessThanOrEqual(1 + Math.floor((performance.now() - startedAt) / 60_000))
  expect(program.stdout.match(/Heliogram is running/g)).toHaveLength(1)
}, 300_000)

test('reads and health report that PostgreSQL is stopped, and recover when it continues', async () => {
  const { client } = program
  const pid = await program.postgresPid()
  process.kill(pid, 'SIGKILL')
  const gone = await client.call<{ code: string }>('GET', '/v1/messages')
  // It may be back already, without a fault to report.
  expect([200, 503]).toContain(gone.status)
  if (gone.status === 503) expect(Number(gone.headers.get('retry-after'))).toBeGreaterThan(0)
  // Remains of the old server may answer for a moment.
  await until('PostgreSQL runs again', async () => ![0, pid, program.pid].includes(await program.postgresPid()))
  await until('reads are answered', async () => (await client.call('GET', '/v1/messages')).status === 200)
  const { id } = await waitFor('a message is accepted', () =>
    client.send({ to: '15552011001', message: 'After all' }, 'after-all'),
  )
  expect((await client.waitForStatus(id, ['delivered'])).delivery_status).toBe('Delivered')
})

test('health reports that PostgreSQL answers but rejects writes, like a standby or a full disk', async () => {
  const { client } = program
  const health = async () => client.call<{ checks: { database: { writable: boolean } } }>('GET', '/healthz')
  const setReadOnly = async (value: 'on' | 'off'): Promise<void> => {
    await db.query(`alter database heliogram set default_transaction_read_only = ${value}`).catch(() => {})
    // Sessions keep their initial settings.
    await db.query(
      'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
    )
  }
  await db.query('set default_transaction_read_only = off')
  expect(await health()).toMatchObject({ status: 200, body: { checks: { database: { ok: true, writable: true } } } })
  await setReadOnly('on')
  const refused = await waitFor(
    'health says so',
    async () => {
      const answer = await health()
      return answer.body.checks.database.writable ? null : answer
    },
    60_000,
  )
  expect(refused).toMatchObject({ status: 503, body: { checks: { database: { ok: false } } } })
  await setReadOnly('off')
  await until('health is well again', async () => (await health()).status === 200)
  const { id } = await client.send({ to: '15552011002', message: 'After that' }, 'after-that')
  expect((await client.waitForStatus(id, ['delivered'])).delivery_status).toBe('Delivered')
}, 120_000)
