import { expect, it } from 'vitest'
import { inTransaction } from '../ground/db/db.ts'
import { createTestDatabase, untilBlocked } from '../ground/db/testing.ts'
import { readHealth } from '../program/health.ts'
import { newId } from '../ground/base/ids.ts'
import { until } from '../../test/until.ts'
import { openVault } from '../ground/sealing/vault.ts'
import { noGrant, noReport, renewLeases } from './leases.ts'
import { listLinks } from './carrier-store.ts'
import { openBoundTest, untilBound, type CarrierTest } from '../carriers/testing.ts'

let test: CarrierTest

const { db } = await createTestDatabase()

it('a link that binds, or is stopped, is logged as life', async () => {
  test = await openBoundTest(db)
  expect(test.states).toEqual(['info binding', 'info bound'])
  await test.sql`update links set enabled = false, updated_at = now()`
  await until('the link is gone', () => test.submitter.links.size === 0)
  await until('the carrier sees it', () => test.simulator.stats().bound === 0)
  expect(test.states.filter((line) => line.startsWith('warn'))).toEqual([])
})

it('a lost link is a warning, and a rebound one is not', async () => {
  test = await openBoundTest(db)
  test.simulator.do('garbage')
  await until('it is told', () => test.states.includes('warn down'))
  await untilBound(test)
  expect(test.states.filter((line) => line.startsWith('warn'))).toEqual(['warn down'])
  expect(test.states.at(-1)).toBe('info bound')
})

it('a link with a password that no key opens is down, says why, and counts in the health of its process', async () => {
  test = await openBoundTest(db)
  const stranger = openVault(Buffer.alloc(32, 9)).seal('secret', `carriers.secrets|${test.carrierId}`)
  const [row] = await test.sql<{ secrets: Buffer | null }>`select secrets from carriers`
  const setSecrets = (secrets: Buffer | null): Promise<unknown> =>
    test.sql`update carriers set secrets = ${secrets}, updated_at = now()`
  await setSecrets(stranger)
  await until('it cannot be started', () => test.errors.length > 0)
  const look = async (): Promise<unknown> => [
    (await listLinks(test.db))[0],
    (await readHealth({ db: test.db, submitter: test.submitter, isWritable: true, disk: null }))['links'],
  ]
  await until('it is told', async () => (await listLinks(test.db))[0]?.lastError !== null)
  expect(await look()).toMatchObject([
    { state: 'down', sessions: 0, lastError: expect.stringMatching(/^cannot_start: .*another key/) },
    { isOk: false, bound: 0, links: 1 },
  ])
  expect(test.errors.splice(0)).toHaveLength(1)

  await setSecrets(row?.secrets ?? null)
  await untilBound(test)
  expect(await look()).toMatchObject([{}, { isOk: true, bound: 1, links: 1 }])
})

const held = (): Promise<number> => test.count('link_slots', 'node_id is not null')

it('a session that is released during a turn is not redialed by it', async () => {
  test = await openBoundTest(db, { settings: { sessions: 2 } })
  await until('both sessions are bound', () => test.simulator.stats().bound === 2)
  const [link] = test.submitter.links.values()
  test.simulator.misbehave({ isPaused: true })
  const sent = [await test.submit(), await test.submit()]
  await until('each has one to answer', () => test.simulator.stats().accepted === 2)

  // Another process wants its part.
  const other = newId()
  await test.sql`insert into nodes (id, name) values (${other}, 'other')`
  const wish = { slots: new Map(), free: [], wants: true, grant: noGrant, report: noReport, isDue: true }
  await renewLeases(test.db, other, () => wish, performance.now())
  await until('one session drains', () => link?.sessions === 1)
  await inTransaction(test.db, async (tx) => {
    await tx.query('select 1 from link_slots for update')
    await untilBlocked(test.db, 1, '%insert into link_slots%')
    test.simulator.misbehave({ isPaused: false })
    await until('it is over', () => link?.windowMax === 100)
  })
  await until('it is given back', async () => (await held()) === 1)
  expect(test.simulator.stats()).toMatchObject({ bound: 1, binds: 2 })
  for (const { id } of sent) await test.reaches(id, 'delivered')
})

it('a disabled link keeps its part of the pace while its submits count: it may be enabled again at once, here or elsewhere', async () => {
  test = await openBoundTest(db)
  const units = (): Promise<number> => test.count('link_states', 'link_id = $1 and units = 1001', [test.linkId])
  test.simulator.misbehave({ isPaused: true })
  await test.submit()
  await until('it is with the carrier', () => test.simulator.stats().accepted === 1)
  await test.sql`update links set enabled = false, updated_at = now()`
  await until('it drains', () => test.submitter.links.size === 0)
  const drainedAt = performance.now()
  test.simulator.misbehave({ isPaused: false })
  await until('it is given back', async () => (await units()) === 0)
  expect(performance.now() - drainedAt).toBeGreaterThan(1000)
})

it('a process that stops keeps its leases while its submits count, also for a new one', async () => {
  test = await openBoundTest(db)
  await test.submit()
  await until('it has gone', () => test.simulator.stats().accepted === 1)
  const other = newId()
  await test.sql`insert into nodes (id, name) values (${other}, 'other')`
  const wish = { slots: new Map(), free: [], wants: true, grant: noGrant, report: noReport, isDue: true }
  await renewLeases(test.db, other, () => wish, performance.now())
  // Its last turn knew no other process.
  const stoppedAt = performance.now()
  const closed = test.submitter.close()
  await until('its leases are given back', async () => (await held()) === 0)
  expect(performance.now() - stoppedAt).toBeGreaterThan(1000)
  await closed
})

it('a link that is enabled again while it drains stays with its process', async () => {
  test = await openBoundTest(db)
  test.simulator.misbehave({ isPaused: true })
  const { id } = await test.submit()
  await until('it is with the carrier', () => test.simulator.stats().accepted === 1)
  await test.sql`update links set enabled = false, updated_at = now()`
  await until('it drains', () => test.submitter.links.size === 0)

  // A turn finds it enabled, and it has drained before that turn is over.
  await inTransaction(test.db, async (tx) => {
    await tx.query('select 1 from link_slots for update')
    await test.sql`update links set enabled = true, updated_at = now()`
    await untilBlocked(test.db, 1, '%insert into link_slots%')
    test.simulator.misbehave({ isPaused: false })
    await until('it has drained', () => test.simulator.stats().bound === 0)
    await test.reaches(id, 'delivered')
  })
  await untilBound(test)
  expect(await held()).toBe(1)
  const other = newId()
  await test.sql`insert into nodes (id, name) values (${other}, 'other')`
  const wish = { slots: new Map(), free: [], wants: true, grant: noGrant, report: noReport, isDue: true }
  const leased = await renewLeases(test.db, other, () => wish, performance.now())
  expect(leased?.map(({ slots }) => slots.size)).toEqual([0])
})

it('a carrier with a lower limit of sessions gets fewer connections', async () => {
  test = await openBoundTest(db, { settings: { sessions: 3 } })
  await until('all sessions are bound', () => test.simulator.stats().bound === 3)
  await test.sql`update carriers set settings = settings || '{"sessions": 1}', updated_at = now()`
  await until('the others are given back', async () => (await held()) === 1)
  await until('it is bound again', () => test.simulator.stats().binds > 3)
  await untilBound(test)
  expect(test.simulator.stats()).toMatchObject({ bound: 1, binds: 4 })
})
