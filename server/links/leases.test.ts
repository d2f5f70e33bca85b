import { beforeEach, describe, expect, it } from 'vitest'
import { inTransaction } from '../ground/db/db.ts'
import { createTestDatabase, untilBlocked, forEachTest } from '../ground/db/testing.ts'
import { newId } from '../ground/base/ids.ts'
import { openLedgerTest } from '../messages/testing.ts'
import { applyLease, heldOf, makeEntry } from './link-entry.ts'
import { noGrant, noReport, releaseLeases, renewLeases, type Held, type LeasedLink } from './leases.ts'

const { db } = await createTestDatabase()
const test = forEachTest(db, openLedgerTest)
beforeEach(async () => {
  await test.sql`update carriers set pace = 100`
})

describe('slots', () => {
  it('belong to the first process, and half of them to the second when the first has drained', async () => {
    await sessions(5)
    const [first, second] = [await Process.start(), await Process.start()]
    await first.renew()
    expect(first.slots).toEqual([1, 2, 3, 4, 5])
    await second.renew()
    expect(second.slots).toEqual([])
    await first.renew()
    expect(first.link?.give).toEqual([4, 5])
    // While they drain, no process has them.
    await second.renew()
    expect(second.slots).toEqual([])
    await first.giveBack()
    await second.renew()
    expect([first.slots, second.slots]).toEqual([
      [1, 2, 3],
      [4, 5],
    ])
  })

  it('never have two holders, however many request them at once', async () => {
    await sessions(4)
    const all = await Promise.all([1, 2, 3, 4].map(() => Process.start()))
    for (let turn = 0; turn < 6; turn++) {
      await Promise.all(all.map((one) => (one.link?.give.length ? one.giveBack() : one.renew())))
      const held = all.flatMap((one) => one.slots)
      expect(new Set(held).size).toBe(held.length)
    }
    expect(all.map((one) => one.slots.length)).toEqual([1, 1, 1, 1])
  })

  it('of a process that is silent for ten seconds go to another, under the next epoch; the first finds none when it wakes', async () => {
    const [first, second] = [await Process.start(), await Process.start()]
    await first.renew()
    const before = first.held.slots.get(1)
    await second.renew()
    expect([first.slots, second.slots]).toEqual([[1], []])
    await age(10)
    await second.renew()
    expect(second.slots).toEqual([1])
    expect(BigInt(second.held.slots.get(1) ?? 0)).toBe(BigInt(before ?? 0) + 1n)
    await first.renew()
    expect(first.slots).toEqual([])
  })

  it('that no process took meanwhile are still its own', async () => {
    const first = await Process.start()
    await first.renew()
    const before = first.held.slots.get(1)
    await age(60)
    await first.renew()
    expect([...first.held.slots]).toEqual([[1, before]])
  })

  it('are free at once when a process is fenced, and it gets no more', async () => {
    const [first, second] = [await Process.start(), await Process.start()]
    await first.renew()
    await test.sql`update nodes set fenced_at = now() where id = ${first.id}`
    await second.renew()
    expect(second.slots).toEqual([1])
    expect(await first.renew()).toBeNull()
  })

  it('that are released and wanted again at once get the next epoch', async () => {
    await sessions(2)
    const first = await Process.start()
    await first.renew()
    const before = new Map(first.held.slots)
    // The process that it drained for is gone.
    await first.renew({ free: [2] })
    expect(first.slots).toEqual([1, 2])
    expect(first.held.slots.get(1)).toBe(before.get(1))
    expect(BigInt(first.held.slots.get(2) ?? 0)).toBe(BigInt(before.get(2) ?? 0) + 1n)
    await first.renew()
    expect(first.slots).toEqual([1, 2])
  })

  it('all go to another process if one cannot start the link, until it can', async () => {
    await sessions(4)
    const [first, second] = [await Process.start(), await Process.start()]
    const unable = { wants: false, report: noReport }
    await first.renew(unable)
    await second.renew()
    expect(second.slots).toEqual([1, 2, 3, 4])
    await first.renew(unable)
    await second.renew()
    expect(second.link?.give).toEqual([])
    await first.renew()
    await second.renew()
    expect(second.link?.give).toEqual([3, 4])
  })

  it('of a link that cannot be started are released in the next turn if one has failed', async () => {
    const { id } = await Process.start()
    const kept = makeEntry()
    const turn = async (): Promise<void> => {
      const leased = await renewLeases(test.db, id, () => heldOf(kept, 0), 0)
      for (const link of leased ?? []) applyLease(kept, link, 0)
    }
    await turn()
    expect(await test.count('link_slots', 'node_id is not null')).toBe(1)
    kept.version = kept.leased?.version ?? ''
    kept.free.push(1)
    await inTransaction(test.db, async (tx) => {
      await tx.query('select 1 from link_slots for update')
      // It may fail before the response to its cancel request arrives.
      const failed = expect(turn()).rejects.toThrow('canceling')
      await untilBlocked(test.db, 1, '%insert into link_slots%')
      await test.sql`select pg_cancel_backend(pid) from pg_stat_activity
        where query like '%insert into link_slots%' and pid <> pg_backend_pid()`
      await failed
    })
    await turn()
    expect(await test.count('link_slots', 'node_id is not null')).toBe(0)
    expect([kept.free, kept.dropping.size]).toEqual([[], 0])
  })

  it('are released at a clean stop', async () => {
    const [first, second] = [await Process.start(), await Process.start()]
    await first.renew()
    await releaseLeases(test.db, first.id)
    await second.renew()
    expect(second.slots).toEqual([1])
    expect(second.link?.holders).toHaveLength(1)
    expect(second.link?.grant.used).toBe(101)
  })

  it('are not taken for a draining link, or by a process that wants none', async () => {
    const first = await Process.start()
    await first.renew({ wants: false })
    expect(first.slots).toEqual([])
  })
})

describe('a pace', () => {
  it('is divided by sessions, and never exceeds the whole', async () => {
    await sessions(4)
    const [first, second] = [await Process.start(), await Process.start()]
    let now = 0
    const check = (): void => {
      expect((first.link?.grant.written ?? 0) + (second.link?.grant.written ?? 0)).toBeLessThanOrEqual(101)
    }
    await first.renew({}, now)
    expect(first.link?.grant.used).toBe(101)
    await second.renew({}, now)
    await first.renew({}, now)
    await first.renew({ free: first.link?.give ?? [] }, now)
    await second.renew({}, now)
    expect([first.slots, second.slots]).toEqual([
      [1, 2],
      [3, 4],
    ])
    check()
    for (let turn = 0; turn < 4; turn++) {
      now += 600
      await first.renew({}, now)
      check()
      await second.renew({}, now)
      check()
    }
    expect([first.link?.grant.used, second.link?.grant.used]).toEqual([51, 50])
  })

  it('that a slow turn lowers was in use until the end of that turn', async () => {
    const { id } = await Process.start()
    const kept = makeEntry()
    const asked = performance.now() - 900
    const [leased] = (await renewLeases(test.db, id, () => heldOf(kept, asked), asked)) ?? []
    if (!leased) throw new Error('there is a link')
    applyLease(kept, leased, asked)
    const before = performance.now()
    applyLease(kept, { ...leased, grant: { used: 51, written: 101, loweredAt: asked } }, asked)
    expect(kept.grant).toMatchObject({ used: 51, written: 101 })
    expect(kept.grant.loweredAt).toBeGreaterThanOrEqual(before)
  })

  it('has slowed down for all processes when the carrier throttles one, and is slow after a restart', async () => {
    const [first, second] = [await Process.start(), await Process.start()]
    await first.renew()
    await first.renew({ report: { ...first.held.report, fraction: 0.5 } })
    await second.renew()
    expect(second.link?.fraction).toBeCloseTo(0.5, 1)
    await releaseLeases(test.db, first.id)
    const third = await Process.start()
    await third.renew()
    expect(third.link?.fraction).toBeLessThan(0.6)
  })

  it('of a link is its own, else the carrier’s', async () => {
    const first = await Process.start()
    await test.sql`update links set pace = 7, settings = '{"sessions": 3}'`
    await first.renew()
    expect([first.link?.pace, first.slots, first.link?.grant.used]).toEqual([7, [1, 2, 3], 8])
  })
})

it('writes nothing without a change', async () => {
  const first = await Process.start()
  await first.renew()
  await first.renew()
  const read = async (): Promise<unknown> =>
    await test.sql`select xmin::text, leased_until from link_slots union all select xmin::text, leased_until
        from link_states`
  const before = await read()
  expect(await first.renew({ isDue: false })).toMatchObject({ isRenewed: false })
  expect(await read()).toEqual(before)
})

/** A process, reduced to its leases. */
class Process {
  readonly id = newId()
  held: Held = { slots: new Map(), free: [], wants: true, grant: noGrant, report: noReport, isDue: true }
  link: LeasedLink | undefined

  static async start(): Promise<Process> {
    const process = new Process()
    await test.sql`insert into nodes (id, name) values (${process.id}, 'test')`
    return process
  }

  /** One renewal; `now` is the test's clock. */
  async renew(changes: Partial<Held> = {}, now = performance.now()): Promise<LeasedLink | null> {
    const leased = await renewLeases(test.db, this.id, () => ({ ...this.held, ...changes }), now)
    this.link = leased?.[0]
    if (!this.link) return null
    const report = { ...noReport, state: 'bound' as const, sessions: this.link.slots.size }
    this.held = { ...this.held, slots: this.link.slots, grant: this.link.grant, report, free: [] }
    return this.link
  }

  /** Gives back what it should. */
  async giveBack(): Promise<void> {
    await this.renew({ free: this.link?.give ?? [] })
  }

  get slots(): number[] {
    return [...this.held.slots.keys()].sort((a, b) => a - b)
  }
}

const sessions = (count: number): Promise<unknown> =>
  test.sql`update carriers set settings = settings || jsonb_build_object('sessions', ${count}::int)`
/** As if so many seconds had passed for the database. */
const age = async (seconds: number): Promise<void> => {
  for (const table of ['link_slots', 'link_states'])
    await test.db.query(`update ${table} set leased_until = leased_until - make_interval(secs => $1)`, [seconds])
}
