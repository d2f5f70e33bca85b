/**
 * One link, four sessions, two processes: they share the sessions and the pace. A frozen process is ended before the other takes over its
 * sessions, so that the carrier never sees more than it sold; one whose machine was frozen never submits on waking.
 */
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openPool, type Db } from '../server/ground/db/db.ts'
import type { Disposable } from '../server/ground/db/embedded/disposable.ts'
import { newId } from '../server/ground/base/ids.ts'
import { CarrierProcess, ourNumber, setUpCarrier } from './carrier.ts'
import { signalProcess, startDurable, startProgram, withChildren, type Program } from './harness.ts'
import { until, waitFor } from './until.ts'

const sessions = 4
// So slow that some messages always wait in a process with committed intents.
const pace = 20

let server: Disposable
let db: Db
let carrier: CarrierProcess
let first: Program
let second: Program

beforeAll(async () => {
  server = await startDurable()
  db = openPool({ connectionString: server.url }, { name: 'journey', max: 2 })
  carrier = await CarrierProcess.start(['--latency', '0', '--sessions', String(sessions)])
  const env = { DATABASE_URL: server.url, HELIOGRAM_CARRIER_URL: carrier.url }
  first = await startProgram({ env })
  await setUpCarrier(first.client)
  const { id } = await first.client.carrier()
  await first.client.expect('PATCH', `/v1/carriers/${id}`, { settings: { sessions } })
  second = await startProgram({ env: { ...env, HELIOGRAM_KEY_FILE: join(first.dataFolder, 'key') } })
  second.client.key = first.client.key
})

afterAll(async () => {
  for (const program of [first, second]) if (program) signalProcess(program.pid, 'SIGCONT')
  await second?.remove()
  await first?.remove()
  await carrier?.close()
  await db?.end()
  await server?.close()
})

async function holders(): Promise<number[]> {
  const { rows } = await db.query<{ slots: number }>(
    `select count(*)::int as slots from link_slots
     where node_id is not null and leased_until > now()
     group by node_id order by 1`,
  )
  return rows.map((row) => row.slots)
}

const untilWatched = ({ pid }: Program): Promise<number[]> =>
  waitFor('it is watched', async () => {
    const processes = await withChildren(pid)
    return processes.length > 1 ? processes : null
  })

async function insertBacklog(name: string, count: number): Promise<void> {
  await db.query(
    `with account as (
       select account_id as id from senders where number = $3
     ), lane as (
       insert into lanes (id, account_id, type)
       select $1, id, 'marketing' from account
       on conflict (account_id, run_id, type) do update set is_paused = false
       returning id, account_id
     ), message as (
       insert into messages (account_id, id, type, status, their_number, our_number, body, encoding, characters, segments,
         created_at, queued_at)
       select lane.account_id, t.id, 'marketing', 'queued', '15552010001', $3, $4 || ' ' || n, 'GSM-7', 5, 1, now(), now()
       from lane, unnest($2::uuid[]) with ordinality as t (id, n)
       returning id, account_id
     )
     insert into queue (lane_id, message_id, account_id, segments)
     select lane.id, message.id, message.account_id, 1 from lane, message`,
    [newId(), Array.from({ length: count }, () => newId()), ourNumber, name],
  )
}

const waiting = async (): Promise<number> =>
  (await db.query<{ count: number }>(`select count(*)::int as count from queue`)).rows[0]?.count ?? -1

test('the processes reach half of the sessions each, and never more than the carrier allows', async () => {
  await until('both hold two', async () => (await holders()).join() === '2,2')
  await until('all four are bound', async () => (await carrier.phones.stats()).bound === sessions)
  expect((await carrier.phones.stats()).bindsRefused).toBe(0)
  await until('the link shows the sum', async () => {
    const { rows } = await db.query<{ sessions: number }>(`select sum(sessions)::int as sessions from link_states`)
    return rows[0]?.sessions === sessions
  })
})

test('together they keep the link’s pace, and their parts add up to it', async () => {
  await db.query(`update carriers set pace = $1`, [pace])
  await until('each has its part', async () => {
    const { rows } = await db.query<{ units: number[] }>(
      `select array_agg(units order by units) as units from link_states`,
    )
    return rows[0]?.units.join() === '10,11'
  })
  await insertBacklog('shared', 10_000)
  await until('it runs', async () => (await carrier.phones.stats()).accepted > 10)
  const before = await carrier.phones.stats()
  const startedAt = performance.now()
  await until('ten seconds pass', () => performance.now() - startedAt > 10_000)
  const seconds = (performance.now() - startedAt) / 1000
  const sent = (await carrier.phones.stats()).accepted - before.accepted
  expect(sent).toBeLessThanOrEqual(pace * seconds * 1.03 + 2)
  // A stalled process does not catch up (`catchUpMs`).
  expect(sent).toBeGreaterThan(pace * seconds * 0.7)
  const times = (await carrier.phones.ledger()).map((entry) => Date.parse(entry.at))
  // Both at full pace would be 40 a second. After a stall the carrier reads late, so half more is tolerated.
  const isCrowded = times.filter((at, i) => at - (times[i - 1.5 * pace - 1] ?? -Infinity) < 980)
  expect(isCrowded).toEqual([])
})

test('a code passes all waiting messages, at either process', async () => {
  expect(await waiting()).toBeGreaterThan(5000)
  for (const { client } of [first, second, first]) {
    const startedAt = Date.now()
    const { id } = await client.send({ to: '15552010001', message: `code ${startedAt}`, type: 'otp' })
    await client.waitForStatus(id, ['sent', 'delivered'])
    const entry = (await carrier.phones.ledger()).find((one) => one.text === `code ${startedAt}`)
    // The backlog takes minutes.
    expect(Date.parse(entry?.at ?? '') - startedAt).toBeLessThan(5000)
  }
})

test('a process whose machine was frozen for twenty seconds submits nothing when it wakes, and the other has its sessions', async () => {
  const { binds } = await carrier.phones.stats()
  const machine = await untilWatched(first)
  for (const pid of machine) signalProcess(pid, 'SIGSTOP')
  const frozenAt = performance.now()
  // The carrier still counts the frozen process's connections: an operator of a real one would end them by hand.
  await carrier.phones.control({ sessionsMax: 2 * sessions })
  await until('the other has its sessions', async () => (await holders()).join() === '4')
  await until('and has bound them', async () => (await carrier.phones.stats()).binds >= binds + 2)
  await until(
    'what it left is settled',
    async () => {
      const { rows } = await db.query<{ count: number }>(
        `select count(*)::int as count from nodes where fenced_at is not null and settled_at is not null`,
      )
      return performance.now() - frozenAt > 20_000 && rows[0]?.count === 1
    },
    40_000,
  )
  const { rows } = await db.query<{ body: string }>(`select body from messages where status = 'unconfirmed'`)
  const before = new Set((await carrier.phones.ledger()).map((entry) => entry.text))
  const unsent = rows.filter(({ body }) => !before.has(body))
  // Claimed messages waited in it: it must not send them now.
  expect(unsent.length).toBeGreaterThan(0)
  for (const pid of machine) signalProcess(pid, 'SIGCONT')
  await until('it ends itself', () => !signalProcess(first.pid, 0))
  const { accepted } = await carrier.phones.stats()
  await until('the other goes on', async () => (await carrier.phones.stats()).accepted > accepted + 2 * pace)
  const after = new Set((await carrier.phones.ledger()).map((entry) => entry.text))
  expect(unsent.filter(({ body }) => after.has(body))).toEqual([])
  expect((await carrier.phones.stats()).duplicates).toBe(0)
})

test('a process that stops drains its sessions and releases them', async () => {
  await first.restart()
  await until('both hold two again', async () => (await holders()).join() === '2,2')
  await first.stop()
  await until('the other has them all', async () => (await holders()).join() === '4')
  const { rows } = await db.query<{ count: number }>(
    `select count(*)::int as count from messages where status = 'unconfirmed' and updated_at > now() - interval '5 seconds'`,
  )
  expect(rows[0]?.count).toBe(0)
})

test('a frozen process is ended before the other takes its sessions: the carrier has none to refuse', async () => {
  await carrier.phones.control({ sessionsMax: sessions })
  await first.restart()
  await until('both hold two again', async () => (await holders()).join() === '2,2')
  await until('all four are bound', async () => (await carrier.phones.stats()).bound === sessions)
  await untilWatched(first)
  const { binds, bindsRefused } = await carrier.phones.stats()
  signalProcess(first.pid, 'SIGSTOP')
  await until('the other has its sessions', async () => (await holders()).join() === '4')
  expect(signalProcess(first.pid, 0)).toBe(false)
  await until('and has bound them', async () => (await carrier.phones.stats()).binds === binds + 2)
  expect(await carrier.phones.stats()).toMatchObject({ bound: sessions, bindsRefused })
})
