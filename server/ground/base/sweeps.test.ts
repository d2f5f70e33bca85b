import { setImmediate } from 'node:timers/promises'
import { afterEach, expect, it, vi } from 'vitest'
import { silent } from '../../messages/testing.ts'
import { createTestDatabase } from '../db/testing.ts'
import { until } from '../../../test/until.ts'
import { Sweeper, untilDone } from './sweeps.ts'

const { db } = await createTestDatabase()

afterEach(() => {
  vi.useRealTimers()
})

it('an hourly sweep runs every hour, also in processes that live for less', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'setInterval', 'clearInterval'] })
  const sweeper = new Sweeper(silent)
  const turns = { second: 0, hour: 0 }
  sweeper.start(
    [
      { name: 'each second', everyMs: 1000, run: async () => turns.second++ },
      { name: 'each hour', everyMs: 3_600_000, run: async () => turns.hour++ },
    ],
    db,
  )
  await vi.advanceTimersByTimeAsync(1000)
  expect(turns).toEqual({ second: 1, hour: 0 })
  await vi.advanceTimersByTimeAsync(300_000)
  expect(turns).toEqual({ second: 301, hour: 1 })
  await vi.advanceTimersByTimeAsync(3_600_000)
  expect(turns.hour).toBe(2)
  await sweeper.close()
  await vi.advanceTimersByTimeAsync(3_600_000)
  expect(turns.hour).toBe(2)
})

it('a sweep does not start twice at once, and a failure does not prevent the next turn', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'setInterval', 'clearInterval'] })
  const sweeper = new Sweeper(silent)
  const begun: (() => void)[] = []
  const run = (): Promise<void> => new Promise((_resolve, reject) => begun.push(() => reject(new Error('broken'))))
  sweeper.start([{ name: 'slow', everyMs: 1000, run }], db)
  await vi.advanceTimersByTimeAsync(3000)
  expect(begun).toHaveLength(1)
  begun[0]?.()
  await vi.advanceTimersByTimeAsync(1000)
  expect(begun).toHaveLength(2)
  let isClosed = false
  const closing = sweeper.close().then(() => (isClosed = true))
  await vi.advanceTimersByTimeAsync(1000)
  expect(isClosed).toBe(false)
  begun[1]?.()
  await closing
})

it('a long sweep ends between two pieces when it is closed', async () => {
  const sweeper = new Sweeper(silent)
  const piecesMax = 10_000
  let pieces = 0
  const run = (isOver: () => boolean): Promise<void> =>
    untilDone(isOver, 1, async () => {
      await setImmediate()
      return ++pieces < piecesMax ? 1 : 0
    })
  sweeper.start([{ name: 'long', everyMs: 1, run }], db)
  await until('it is at it', () => pieces > 3)
  await sweeper.close()
  expect(pieces).toBeLessThan(piecesMax)
})

it('looks often at first for work that comes in series, although nothing is due', async () => {
  const sweeper = new Sweeper(silent)
  let turns = 0
  const run = async (): Promise<boolean> => ++turns < 0
  sweeper.start([{ name: 'in series', everyMs: 10, isInSeries: true, due: 'select now() where false', run }], db)
  await until('it ran often', () => turns > 20)
  await sweeper.close()
  const count = turns
  const { rows } = await db.query<{ ended: boolean }>('select true as ended from pg_sleep(0.1)')
  expect([rows[0]?.ended, turns]).toEqual([true, count])
})

it('an expression that fails does not stop the other sweeps', async () => {
  const sweeper = new Sweeper(silent)
  const turns = { sound: 0, faulty: 0 }
  sweeper.start(
    [
      { name: 'sound', everyMs: 100, due: 'select now()', run: async () => turns.sound++ },
      { name: 'faulty', everyMs: 100, due: 'select due_at from no_table', run: async () => turns.faulty++ },
    ],
    db,
  )
  await until('both ran twice', () => turns.sound > 1 && turns.faulty > 1)
  await sweeper.close()
})

it('runs what is due at its time, then again while it is due, and not before or after', async () => {
  await db.query('create table work (due_at timestamptz)')
  const sweeper = new Sweeper(silent)
  const ranAt: number[] = []
  const run = async (): Promise<void> => {
    ranAt.push(Date.now())
    if (ranAt.length === 3) await db.query('delete from work')
  }
  let looks = 0
  sweeper.start(
    [
      { name: 'timed', everyMs: 100, due: 'select min(due_at) from work', run },
      { name: 'always', everyMs: 1000, due: 'select now()', run: async () => looks++ },
    ],
    db,
  )
  await until('a look found nothing', () => looks > 0)
  const { rows } = await db.query<{ at: Date }>(
    `insert into work values (now() + interval '1.5 seconds') returning due_at as at`,
  )
  await until('it ran', () => ranAt.length >= 3)
  const passTwoLooks = async (): Promise<void> => {
    const before = looks
    await until('two more looks', () => looks > before + 2)
  }
  await passTwoLooks()
  const count = ranAt.length
  await passTwoLooks()
  await sweeper.close()
  const dueAt = rows[0]?.at.getTime() ?? 0
  expect(Math.min(...ranAt)).toBeGreaterThanOrEqual(dueAt)
  expect(ranAt).toHaveLength(count)
})
