import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../../ground/db/testing.ts'
import { newId } from '../../ground/base/ids.ts'
import { Bucket, RateLimiter } from './rate-limit.ts'
import { RateShares, shareOf } from './rate-shares.ts'

describe('a bucket', () => {
  it('gives twice its rate at once, then its rate, and shows what is left of a second', () => {
    const bucket = new Bucket(100, 0)
    expect([bucket.policy, bucket.state]).toEqual(['"api";q=100;w=1', '"api";r=100;t=1'])
    let taken = 0
    while (bucket.take(0)) taken++
    expect([taken, bucket.state]).toEqual([200, '"api";r=0;t=1'])
    expect(bucket.waitSeconds).toBeCloseTo(0.01)
    expect([bucket.take(9), bucket.take(11), bucket.take(11)]).toEqual([false, true, false])
    bucket.take(100)
    expect(bucket.state).toBe('"api";r=8;t=1')
  })

  it('may fill once in several seconds', () => {
    const bucket = new Bucket(0.1, 0)
    expect([bucket.policy, bucket.state]).toEqual(['"api";q=1;w=10', '"api";r=1;t=1'])
    expect([bucket.take(0), bucket.state, bucket.take(9000), bucket.take(10_000)]).toEqual([
      true,
      '"api";r=0;t=10',
      false,
      true,
    ])
  })

  it('never gives more than the rate and the burst in any time, for any share', () => {
    const step = fc.record({ ms: fc.integer({ min: 0, max: 500 }), share: fc.constantFrom(null, 0.05, 0.5, 1) })
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 300 }), fc.array(step, { maxLength: 200 }), (perSecond, steps) => {
        const bucket = new Bucket(perSecond, 0)
        const taken: number[] = []
        let now = 0
        for (const { ms, share } of steps) {
          now += ms
          if (share !== null) bucket.setShare(share, now)
          for (let i = 0; i < 20; i++) if (bucket.take(now)) taken.push(now)
        }
        taken.forEach((from, i) => {
          const [count, ms] = [taken.length - i, now - from]
          expect(count).toBeLessThanOrEqual(2 * perSecond + (ms / 1000) * perSecond + 1)
        })
      }),
    )
  })
})

it('a limiter keeps a bucket for each credential, replaces it for a new limit, and drops unused ones', () => {
  const limiter = new RateLimiter(100)
  const one = limiter.of({ id: 'a' }, 0)
  expect(limiter.of({ id: 'a', apiPerSecond: null }, 0)).toBe(one)
  expect(limiter.of({ id: 'b' }, 0)).not.toBe(one)
  expect(limiter.of({ id: 'a', apiPerSecond: 5 }, 0).policy).toBe('"api";q=5;w=1')
  limiter.of({ id: 'b' }, 50_000).take(50_000)
  limiter.forget(70_000)
  expect([...limiter.buckets.keys()]).toEqual(['b'])
})

describe('processes', () => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await createTestDatabase()
  })
  afterAll(() => database.close())

  const open = async (): Promise<{ limiter: RateLimiter; shares: RateShares; nodeId: string }> => {
    const [nodeId, limiter] = [newId(), new RateLimiter(100)]
    await database.sql`insert into nodes (id, name) values (${nodeId}, 'test')`
    const log = { info: () => {}, warn: () => {}, error: () => {} }
    return { limiter, nodeId, shares: new RateShares(database.db, log, nodeId, limiter) }
  }

  it('share a limit by demand: all of it for one alone, and no more than the limit among several', async () => {
    const [a, b] = [await open(), await open()]
    const id = newId()
    // Requests a second of each for some seconds; returns those taken in the last one.
    const run = async (seconds: number, asked: number[]): Promise<number[]> => {
      let taken = [0, 0]
      for (let s = 0; s < seconds; s++) {
        taken = [0, 0]
        for (let ms = 0; ms < 1000; ms += 40)
          [a, b].forEach(({ limiter }, i) => {
            for (let n = 0; n < (asked[i] ?? 0) / 25; n++)
              if (limiter.of({ id }, start + ms).take(start + ms)) taken[i] = (taken[i] ?? 0) + 1
          })
        start += 1000
        await a.shares.turn(start)
        await b.shares.turn(start)
      }
      return taken
    }
    let start = Math.ceil(performance.now())
    expect(await run(5, [500, 0])).toEqual([100, 0])
    const [first = 0, second = 0] = await run(8, [500, 500])
    expect(first + second).toBeLessThanOrEqual(102)
    expect(Math.min(first, second)).toBeGreaterThanOrEqual(48)
    // A demand below the fair share is met; the other gets the rest.
    const [busy = 0, calm = 0] = await run(8, [500, 25])
    expect(calm).toBe(25)
    expect(busy + calm).toBeGreaterThanOrEqual(98)
    expect(busy + calm).toBeLessThanOrEqual(102)
    await database.sql`update nodes set fenced_at = now() where id = ${b.nodeId}`
    expect((await run(4, [500, 0]))[0]).toBe(100)
  })

  it('keep nothing of a silent credential', async () => {
    const { limiter, shares, nodeId } = await open()
    let now = performance.now()
    const told = async (id: string): Promise<string[]> => {
      for (let i = 0; i < 100; i++) limiter.of({ id }, now).take(now)
      await shares.turn((now += 1000))
      const rows = await database.sql<{ id: string }>`select credential_id as id from request_demands
        where node_id = ${nodeId}`
      return rows.map((row) => row.id)
    }
    const [before, after] = [newId(), newId()]
    expect(await told(before)).toEqual([before])
    await database.sql`update request_demands set at = now() - interval '10 seconds'`
    // It is still busy: a demand decays slowly.
    expect(new Set(await told(after))).toEqual(new Set([before, after]))
    await database.sql`update request_demands set at = now() - interval '10 seconds'`
    for (let turn = 0; turn < 10; turn++) await told(after)
    await database.sql`update request_demands set at = now() - interval '10 seconds' where credential_id = ${before}`
    expect(await told(after)).toEqual([after])
  })

  it('write nothing while demand is low', async () => {
    const { limiter, shares } = await open()
    const id = newId()
    for (let i = 0; i < 3; i++) limiter.of({ id }, performance.now()).take(performance.now())
    await new Promise((resolve) => setImmediate(resolve))
    await shares.turn(performance.now() + 5000)
    const { rowCount } = await database.db.query('select 1 from request_demands where credential_id = $1', [id])
    expect(rowCount).toBe(0)
  })
})

it('shares are fair: they add up to the limit, and demands below an even share are met', () => {
  const demand = fc.double({ min: 3, max: 100, noNaN: true })
  fc.assert(
    fc.property(fc.array(demand, { minLength: 2, maxLength: 8 }), (demands) => {
      const parts = demands.map((mine, i) => 100 * shareOf(100, mine, demands.toSpliced(i, 1)))
      // Shares are at least a twentieth, so the sum may exceed the limit by that.
      expect(parts.reduce((sum, part) => sum + part, 0)).toBeLessThanOrEqual(100 + 5 * demands.length)
      parts.forEach((part, i) => {
        expect(part).toBeGreaterThanOrEqual(Math.min(demands[i] ?? 0, 100 / demands.length) - 1e-9)
      })
    }),
  )
})
