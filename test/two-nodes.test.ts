/** Two processes on one database: when the one with the link is killed, the other takes over without duplicates. */
import { existsSync } from 'node:fs'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openPool, type Db } from '../server/ground/db/db.ts'
import type { Disposable } from '../server/ground/db/embedded/disposable.ts'
import { CarrierProcess, setUpCarrier } from './carrier.ts'
import { Client } from './client.ts'
import { checkConservation, summarise } from './conservation.ts'
import { makeDataFolder, makeEnvironment, runToEnd, startDurable, startProgram, type Program } from './harness.ts'
import { Load, seededRandom } from './load.ts'
import { Receiver } from './receiver.ts'
import { until } from './until.ts'
import { countStatuses, gatherEvidence, seed } from './evidence.ts'

const random = seededRandom(seed)

let server: Disposable
let db: Db
let carrier: CarrierProcess
let first: Program
let second: Program
let receiver: Receiver

beforeAll(async () => {
  server = await startDurable()
  db = openPool({ connectionString: server.url }, { name: 'journey', max: 1 })
  carrier = await CarrierProcess.start(['--response-latency', '1-20', '--receipt-latency', '50-200'])
  const env = {
    DATABASE_URL: server.url,
    HELIOGRAM_CARRIER_URL: carrier.url,
    HELIOGRAM_WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8',
  }
  first = await startProgram({ env })
  await setUpCarrier(first.client)
  receiver = await Receiver.start(first.client)
  second = await startProgram({ env: { ...env, HELIOGRAM_KEY_FILE: join(first.dataFolder, 'key') } })
  second.client.key = first.client.key
})

afterAll(async () => {
  await receiver?.close()
  await second?.remove()
  await first?.remove()
  await carrier?.close()
  await db?.end()
  await server?.close()
})

test('the second process creates no account and no carrier, and leaves the link to the first', async () => {
  expect(second.stdout).not.toContain('  API key  ')
  expect((await second.client.get<{ data: unknown[] }>('/v1/carriers')).data).toHaveLength(1)
  // Messages accepted by the second go out through the first.
  const { id } = await second.client.send({ to: '15552013001', message: 'Through the other' }, 'through-the-other')
  await second.client.waitForStatus(id, ['delivered'])
  expect(await carrier.phones.stats()).toMatchObject({ bound: 1 })
  expect(second.stderr).not.toContain('"state":"bound"')
})

test('a process with another key file does not start beside them, and no rotation begins with it', async () => {
  const folder = await makeDataFolder()
  try {
    const env = await makeEnvironment(folder, { env: { DATABASE_URL: server.url, HELIOGRAM_SIMULATOR: 'off' } })
    const keyFile = join(env['HELIOGRAM_DATA'] ?? '', 'key')
    const without = await runToEnd(['start'], env)
    expect(without.stderr).toMatch(/^There is no key file \S+, and \S+ runs on the same database with one\./m)
    expect([without.code, existsSync(keyFile)]).toEqual([1, false])
    await mkdir(dirname(keyFile), { recursive: true })
    await writeFile(keyFile, `${Buffer.alloc(32, 9).toString('base64')}\n`, { mode: 0o600 })
    for (const command of ['start', 'rotate-key']) {
      const ending = await runToEnd([command], env)
      expect(ending.stderr).toMatch(/^The key file \S+ is not the one of this database\..* \S+ is running on it, /m)
      expect(ending.code).toBe(1)
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})

test('an idempotency key used at one process is known to the other', async () => {
  const body = { to: '15552013002', message: 'Once' }
  const one = await first.client.send(body, 'shared-key')
  expect((await second.client.send(body, 'shared-key')).id).toBe(one.id)
  await first.client.waitForStatus(one.id, ['delivered'])
  expect(await carrier.phones.texts(body.to)).toEqual(['Once'])
})

test(`when the process with the link is killed, the other has it within 30 s and sends nothing twice (SEED=${seed})`, async () => {
  const programs = [first, second]
  const client = new Client(() => programs[Math.floor(random() * programs.length)]?.address ?? '', first.client.key)
  const recipient = (n: number): string => `15552011${String(100 + (n % 800))}`
  const load = new Load({ client, rate: 200, recipient, random })
  await until('messages are accepted', () => load.accepted > 200)
  const { binds } = await carrier.phones.stats()
  const killedAt = performance.now()
  await first.kill9()
  programs.shift()
  await until('the second process is bound', async () => (await carrier.phones.stats()).binds > binds)
  console.log(`the link was taken over after ${((performance.now() - killedAt) / 1000).toFixed(1)} s`)
  const evidence = await gatherEvidence({ load, db, carrier, receiver })
  const statuses = countStatuses(load, evidence)
  expect(summarise(checkConservation(evidence))).toEqual([])
  expect(statuses.get('delivered')).toBeGreaterThan(200)
  expect([...statuses.keys()].filter((status) => !['delivered', 'unconfirmed'].includes(status))).toEqual([])
  expect(await carrier.phones.stats()).toMatchObject({ bound: 1 })
}, 300_000)
