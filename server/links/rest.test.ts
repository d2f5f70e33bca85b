import { expect, it } from 'vitest'
import { createTestDatabase } from '../ground/db/testing.ts'
import { newId } from '../ground/base/ids.ts'
import { until } from '../../test/until.ts'
import { listLinks } from './carrier-store.ts'
import { openCarrierTest, type CarrierTest } from '../carriers/testing.ts'
import { noGrant, noReport, renewLeases } from './leases.ts'
import { isResting, lookAtLife, noRest } from './rest.ts'

const minute = 60_000

it('a link that only others have rests after a minute without a session, longer each time, but not if no process has it', () => {
  const life = { sessions: 0, isUpElsewhere: true, version: 'one' }
  let rest = lookAtLife(noRest, life, 0, minute)
  expect(isResting(rest, life, 1)).toBe(false)
  rest = lookAtLife(rest, life, minute - 1, minute)
  expect(isResting(rest, life, minute)).toBe(false)
  rest = lookAtLife(rest, life, minute, minute)
  expect([rest.until, isResting(rest, life, minute)]).toEqual([6 * minute, true])
  expect(isResting(rest, { ...life, isUpElsewhere: false }, minute)).toBe(false)
  expect(isResting(rest, { ...life, version: 'two' }, minute)).toBe(false)
  expect(isResting(rest, life, 6 * minute)).toBe(false)

  const lengths = [rest.ms]
  for (let now = 10 * minute; lengths.length < 6; now += 100 * minute) {
    rest = lookAtLife(lookAtLife(rest, life, now, minute), life, now + minute, minute)
    lengths.push(rest.ms)
  }
  expect(lengths.map((ms) => ms / minute)).toEqual([5, 10, 20, 40, 60, 60])
  expect(lookAtLife(rest, { ...life, sessions: 1 }, 0, minute)).toEqual(noRest)
})

let test: CarrierTest | undefined

const database = await createTestDatabase()

it('a link leaves its slots to the process that the carrier accepts, says why, and takes them back when no process has the link', async () => {
  test = await openCarrierTest(database.db, {
    simulator: { credentials: { heliogram: 'another' } },
    settings: { sessions: 4 },
    restAfterMs: 300,
  })
  const { db, node } = test
  const count = (table: string, where: string): Promise<number> => test?.count(table, where) ?? Promise.resolve(-1)
  const other = newId()
  await db.query(`insert into nodes (id, name) values ($1, 'other')`, [other])
  let slots: ReadonlyMap<number, string> = new Map()
  let free: readonly number[] = []
  /** A turn of the other process, with or without bound sessions; it releases surplus slots with the next. */
  const turnOfOther = async (isUp: boolean): Promise<void> => {
    const report = isUp ? { ...noReport, state: 'bound' as const, sessions: slots.size } : noReport
    const held = { slots, free, wants: true, grant: noGrant, report, isDue: true }
    const [leased] = (await renewLeases(db, other, () => held, performance.now())) ?? []
    slots = leased?.slots ?? slots
    free = leased?.give ?? []
  }
  await until('the other process has all', async () => {
    await turnOfOther(true)
    return slots.size === 4
  })
  await until('and has told of all', async () => {
    await turnOfOther(true)
    return (await listLinks(db))[0]?.sessions === 4
  })
  const { rows } = await db.query('select state, last_error as "lastError" from link_states where node_id = $1', [
    node.id,
  ])
  expect(rows).toEqual([{ state: 'down', lastError: expect.stringContaining('bind_refused') }])

  await until('it tries again', async () => {
    await turnOfOther(false)
    return (await count('link_slots', `node_id = '${node.id}'`)) > 0
  })
})
