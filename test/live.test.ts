/** The operator's view of a carrier that disappears: health, metrics, the live view and alerts, of one process and of several. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openPool, type Db } from '../server/ground/db/db.ts'
import { CarrierProcess, setUpCarrier } from './carrier.ts'
import type { Client } from './client.ts'
import {
  findPorts,
  launch,
  makeEnvironment,
  makeDataFolder,
  startDurable,
  startProgram,
  type Program,
} from './harness.ts'
import { Receiver, type Event } from './receiver.ts'
import { until, waitFor } from './until.ts'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'

let database: Awaited<ReturnType<typeof startDurable>>
let db: Db
let carrier: CarrierProcess
let program: Program
let client: Client
let receiver: Receiver

beforeAll(async () => {
  database = await startDurable()
  db = openPool({ connectionString: database.url }, { name: 'journey', max: 1 })
  carrier = await CarrierProcess.start(['--latency', '0', '--credentials', 'heliogram:secret'])
  program = await startProgram({
    env: {
      DATABASE_URL: database.url,
      HELIOGRAM_CARRIER_URL: carrier.url,
      HELIOGRAM_WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8',
      HELIOGRAM_METRICS_TOKEN: 'the-token-of-prometheus',
    },
  })
  client = program.client
  await setUpCarrier(client)
  await client.waitForBound()
  receiver = await Receiver.start(client, ['link.down', 'link.up'])
})

afterAll(async () => {
  await receiver?.close()
  await program?.remove()
  await carrier?.close()
  await db?.end()
  await database?.close()
})

async function readMetrics(address = program.address): Promise<string> {
  const answer = await fetch(`${address}/metrics`, { headers: { authorization: 'Bearer the-token-of-prometheus' } })
  expect(answer.status).toBe(200)
  return answer.text()
}

const health = async (): Promise<{ status: number; body: unknown }> => {
  const { status, body } = await client.call('GET', '/healthz')
  return { status, body }
}

/** Waits for an event of an alert; each look ages its trouble or end by ten seconds. */
const waitForAlert = (type: string): Promise<Event> =>
  waitFor(type, async () => {
    await db.query(
      `update alerts set seen_at = seen_at - interval '10 seconds', clear_at = clear_at - interval '10 seconds'
       where closed_at is null`,
    )
    return [...receiver.events.values()].find((event) => event.type === type)
  })

test('the live view and the metrics include what was sent', async () => {
  const { id } = await client.send({ to: '14155550123', message: 'Hello' })
  await client.waitForStatus(id, ['delivered'])
  const metrics = await readMetrics()
  expect(metrics).toMatch(/^heliogram_messages_accepted_total\{type="transactional"\} 1$/m)
  expect(metrics).toMatch(/^heliogram_response_seconds_count\{carrier="[^"]+",country="US"\} 1$/m)
  const carrierId = (await client.carrier()).id
  await until('the live view has its times', async () => {
    const shown = await client.get<{ latency: { countries: { country: string }[] } }>(`/v1/carriers/${carrierId}`)
    return shown.latency.countries[0]?.country === 'US'
  })
  expect((await fetch(`${program.address}/metrics`)).status).toBe(401)
})

test('a link that is down degrades the health without an outage, and is reported once, like its end', async () => {
  expect(await health()).toMatchObject({ status: 200, body: { status: 'ok' } })
  await carrier.kill9()
  await until('the health is degraded', async () => JSON.stringify((await health()).body).includes('degraded'))
  expect(await health()).toMatchObject({
    status: 200,
    body: { status: 'degraded', checks: { database: { ok: true }, links: { ok: false, bound: 0, links: 1 } } },
  })
  await until('the metrics say so', async () => /^heliogram_link_up\{.*\} 0$/m.test(await readMetrics()))
  const down = await waitForAlert('link.down')
  expect(down.data).toMatchObject({
    alert: { type: 'link.down', status: 'open', last_error: expect.stringMatching(/closed|ECONN/) },
  })
  expect(await client.get('/v1/alerts?status=open')).toMatchObject({ data: [{ type: 'link.down' }] })
  // A process started in the middle does not report it again.
  await program.stop()
  await program.restart()
  await carrier.start()
  const up = await waitForAlert('link.up')
  expect(up.data).toMatchObject({ alert: { type: 'link.down', status: 'closed' } })
  expect([...receiver.events.values()].map(({ type }) => type)).toEqual(['link.down', 'link.up'])
})

test('a process without the API has its metrics on a port of its own', async () => {
  const folder = await makeDataFolder()
  const [port = 0] = await findPorts(1)
  const env = await makeEnvironment(folder, {
    env: {
      DATABASE_URL: database.url,
      HELIOGRAM_ROLES: 'links',
      HELIOGRAM_SIMULATOR: 'off',
      HELIOGRAM_METRICS_PORT: String(port),
      HELIOGRAM_KEY_FILE: join(program.dataFolder, 'key'),
    },
  })
  const { child, ended } = launch(['start'], env)
  const address = `http://127.0.0.1:${port}`
  await until('it answers', () => fetch(`${address}/healthz`).then(({ ok }) => ok))
  const answer = await fetch(`${address}/metrics`)
  expect(await answer.text()).toContain('heliogram_database_connections{pool="pipeline"')
  expect((await fetch(`${address}/v1/messages`)).status).toBe(404)
  child.kill('SIGTERM')
  expect((await ended).code).toBe(0)
  await rm(folder, { recursive: true, force: true })
})
