import { beforeEach, describe, expect, it, vi } from 'vitest'
import { createTestDatabase, emptyTables } from '../ground/db/testing.ts'
import { newId } from '../ground/base/ids.ts'
import { releaseGrants } from './limit-grants.ts'
import { Limits } from './limits.ts'
import { capacityOf } from './pace.ts'
import type { Holder } from './shares.ts'

const { db, sql } = await createTestDatabase()

const accountId = newId()
const pace = 100
const units = capacityOf(pace)
/** The test's clock: a turn a second. */
let now = 0

beforeEach(async () => {
  await emptyTables(db, 'accounts, nodes')
  await sql`insert into accounts (id, name, pace) values (${accountId}, 'Acme', ${pace})`
})

describe('the pace of an account', () => {
  it('belongs to the first process at once, and is divided by sessions when a second one comes', async () => {
    const [first, second] = [await Process.start(), await Process.start()]
    await turns([first], [4])
    expect(first.rate).toBe(pace)
    await turns([first, second], [2, 2], 3)
    expect(rates([first, second])).toEqual([51, 50])
    await turns([first, second], [3, 1], 3)
    expect(rates([first, second])).toEqual([76, 25])
  })

  it('that a process releases at a clean stop goes to the others within a turn', async () => {
    const all = [await Process.start(), await Process.start(), await Process.start()]
    const [first, second, third] = all as [Process, Process, Process]
    await turns(all, [1, 1, 1], 4)
    expect(rates(all)).toEqual([34, 34, 33])
    await releaseGrants(db, third.id)
    await turns([first, second], [1, 1])
    expect(rates([first, second])).toEqual([51, 50])
  })

  it('of a killed process goes to the others when it is fenced, and not before', async () => {
    const [first, second] = [await Process.start(), await Process.start()]
    await turns([first, second], [1, 1], 3)
    // Its leases have run out; it may be frozen, and wake.
    await turns([first], [1], 3)
    expect(rates([first])).toEqual([51])
    await sql`update nodes set fenced_at = now() where id = ${second.id}`
    await turns([first], [1])
    expect(first.rate).toBe(pace)
  })

  it('changes within seconds of a change, and ends when it is removed', async () => {
    const first = await Process.start()
    const set = (to: number | null): Promise<unknown> => sql`update accounts set pace = ${to}`
    await turns([first], [1])
    const [limit] = first.limits.of({ accountId, type: 'otp', ourNumber: null, campaignId: null })
    await set(2.5)
    await turns([first], [1], 2)
    expect(first.rate).toBe(2.5)
    await set(3000)
    await turns([first], [1], 2)
    expect(first.rate).toBe(3000)
    await set(0.01)
    await turns([first], [1], 2)
    limit?.pace.note(now)
    expect(limit?.pace.isDue(now + 5000)).toBe(false)
    await set(null)
    await turns([first], [1], 3)
    expect([first.rate, first.limits.isLimited(accountId)]).toEqual([Infinity, false])
    // Messages under it keep their list, and go.
    expect(limit?.pace.isDue(now + 1000)).toBe(true)
    // It leaves no row: a process lives for months, and paces of campaigns come and go.
    expect((await sql`select from pace_grants`).length).toBe(0)
  })

  it('goes to another no earlier than a second after the end of the turn that lowered it, however long that took', async () => {
    const [first, second] = [await Process.start(), await Process.start()]
    await turns([first], [1])
    const holders = [first, second].map(({ id }) => ({ nodeId: id, weight: 1 }))
    let at = (now += 1000)
    await first.limits.renew(
      db,
      first.id,
      () => holders,
      () => (at += 900) - 900,
    )
    const turn = async (): Promise<void> => {
      now += 1000
      for (const one of [first, second]) await one.turn(holders)
    }
    await turn()
    expect(rates([first, second])).toEqual([51, 0])
    await turn()
    expect(rates([first, second])).toEqual([51, 50])
  })

  it('costs no statement while nothing changes', async () => {
    const first = await Process.start()
    await turns([first], [1], 3)
    const read = async (): Promise<unknown> => await sql`select xmin::text, units from pace_grants`
    const before = await read()
    await turns([first], [1], 5)
    expect(await read()).toEqual(before)
  })
})

it('those of many numbers are read when one has changed, and only then', async () => {
  const [carrierId, number] = [newId(), '447700910007']
  await sql`insert into carriers (id, name, kind) values (${carrierId}, 'test', 'smpp')`
  await sql`insert into senders (account_id, id, carrier_id, number, kind, pace)
    select ${accountId}, gen_random_uuid(), ${carrierId}, (447700910000 + n)::text, 'long_code', 1
    from generate_series(1, 3000) as n`
  const first = await Process.start()
  now += 2000
  await first.turn([{ nodeId: first.id, weight: 1 }])
  const rateOf = (): number => first.limits.paceOf({ accountId, type: 'otp', sender: number, campaignId: null })
  expect(rateOf()).toBe(1)
  const read = vi.spyOn(db, 'query')
  await turns([first], [1], 6)
  const results = await Promise.all(read.mock.results.map(({ value }) => value as Promise<{ rows: unknown[] }>))
  read.mockRestore()
  expect(results.reduce((sum, { rows }) => sum + rows.length, 0)).toBeLessThan(10)
  for (const [set, expected] of [
    ['pace = 2', 2],
    ['pace = null', pace],
    ['pace = 3', 3],
  ] as const) {
    await db.query(`update senders set ${set} where number = $1`, [number])
    await turns([first], [1], 3)
    expect(rateOf()).toBe(expected)
    const [, own] = first.limits.of({ accountId, type: 'otp', ourNumber: number, campaignId: null })
    expect(own?.pace.rate(now)).toBe(expected === pace ? undefined : expected)
  }
  await sql`delete from senders where number = ${number}`
  await turns([first], [1], 3)
  expect(rateOf()).toBe(pace)
})

it('a campaign has its own pace beside the account’s, for its own messages', async () => {
  const campaignId = newId()
  await sql`insert into campaigns (account_id, id, name, pace) values (${accountId}, ${campaignId}, 'Sale', 5)`
  const first = await Process.start()
  const { limits } = first
  now += 2000
  await first.turn([{ nodeId: first.id, weight: 1 }])
  const message = { accountId, type: 'marketing', ourNumber: null } as const
  expect(limits.of({ ...message, campaignId }).map((limit) => limit.pace.rate(now))).toEqual([pace, 5])
  expect(limits.of({ ...message, campaignId: null })).toHaveLength(1)
  expect(limits.of({ ...message, campaignId })).toBe(limits.of({ ...message, campaignId }))
  expect(limits.partOf({ ...message, campaignId })).toEqual({ sender: null, campaignId })
  expect(limits.paceOf({ ...message, sender: null, campaignId })).toBe(5)
  await sql`update campaigns set status = 'archived'`
  now += 2000
  await first.turn([{ nodeId: first.id, weight: 1 }])
  expect(limits.of({ ...message, campaignId })).toHaveLength(1)
})

/** A process, reduced to its limits. */
class Process {
  readonly id = newId()
  readonly limits = new Limits()

  static async start(): Promise<Process> {
    const process = new Process()
    await sql`insert into nodes (id, name) values (${process.id}, 'test')`
    return process
  }

  async turn(holders: readonly Holder[]): Promise<void> {
    await this.limits.renew(
      db,
      this.id,
      () => holders,
      () => now,
    )
  }

  /** Segments a second that it may submit for the account. */
  get rate(): number {
    const [limit] = this.limits.of({ accountId, type: 'marketing', ourNumber: null, campaignId: null })
    return limit?.pace.rate(now) ?? Infinity
  }
}

/** A turn of every process, with these sessions; their sum never exceeds the whole. */
async function turns(processes: readonly Process[], weights: readonly number[], count = 1): Promise<void> {
  const holders = processes.map(({ id }, i) => ({ nodeId: id, weight: weights[i] ?? 0 }))
  for (let turn = 0; turn < count; turn++) {
    now += 1000
    for (const process of processes) {
      await process.turn(holders)
      // A process without a turn yet submits nothing.
      const sum = processes.reduce((total, { rate }) => total + (rate === Infinity ? 0 : rate), 0)
      if (processes.length > 1) expect(sum).toBeLessThanOrEqual(pace * 1.0001)
    }
  }
}

const rates = (processes: readonly Process[]): number[] =>
  processes.map(({ rate }) => Math.round((rate * units) / pace))
