import { beforeEach, describe, expect, it } from 'vitest'
import { dayAt } from '../ground/base/day.ts'
import { inTransaction } from '../ground/db/db.ts'
import { createTestDatabase, untilBlocked, forEachTest } from '../ground/db/testing.ts'
import { Acceptor } from '../accept/accept.ts'
import type { Accepted, Draft, Stop } from '../message/draft.ts'
import { openLedgerTest } from '../messages/testing.ts'
import { passTurnOfHour } from './testing.ts'
import { nameOf } from './judge.ts'
import { forgetWindows, listStops, releaseStops, type GuardRow, type Release } from './stops.ts'
import { moveWindows, readRelief, readUsed, useWindows } from './windows.ts'

const database = await createTestDatabase()

beforeEach(passTurnOfHour)
const test = forEachTest(database.db, openLedgerTest)

it('a message stopped during a release belongs to the released stop', async () => {
  await setGuards({ per_prefix_per_hour: 1 })
  const [full, free] = ['15551230001', '15559870001']
  await send({ theirNumber: full })
  const { guardId } = stopOf(await send({ theirNumber: full }))
  const idempotency = { operation: 'messages.send', key: 'one', fingerprint: Buffer.from('x') }
  const [sending, releasing] = await inTransaction(database.db, async (tx) => {
    // The first message of the batch waits here, after the second was judged and stopped.
    await tx.query(
      `insert into idempotency_keys (account_id, operation, key, fingerprint) values ($1, 'messages.send', 'one', 'x')`,
      [test.accountId],
    )
    const both = test.acceptor.acceptAll([
      test.draft({ theirNumber: free, idempotency }),
      test.draft({ theirNumber: full }),
    ])
    await untilBlocked(database.db, 1)
    const released = release(guardId ?? '')
    await untilBlocked(database.db, 2)
    return [both, released]
  })
  expect(words(await sending)).toEqual(['fraud_suspected', 'known_key'])
  expect((await releasing).released).toMatchObject([{ id: guardId }])
  expect(await inForce()).toEqual([])
})

describe('a daily cap of segments', () => {
  it('is never exceeded, by fifty sends at once in two processes', async () => {
    await setGuards({ daily_segments: 20 })
    const results = await sendAll(Array.from({ length: 50 }, (_, i) => test.draft({ segments: 1 + (i % 3) })))
    const accepted = results.flatMap((one) => (one.kind === 'accepted' ? [one.row.segments] : []))
    const sum = accepted.reduce((total, segments) => total + segments, 0)
    expect(sum).toBeGreaterThan(17)
    expect(sum).toBeLessThanOrEqual(20)
    expect(await segmentsAccepted()).toBe(sum)
    expect(await used('daily_segments')).toBe(sum)
    const [stop, ...others] = await inForce()
    expect(others).toEqual([])
    expect(stop).toMatchObject({ kind: 'daily_segments', limit: 20, refused: 50 - accepted.length })
  })

  it('is not used by a message refused for another reason, or by a repeated key', async () => {
    await setGuards({ daily_segments: 2 })
    await database.sql`insert into opt_outs (account_id, number, source)
      values (${test.accountId}, '15551230009', 'keyword')`
    const idempotency = { operation: 'messages.send', key: 'one', fingerprint: Buffer.from('x') }
    expect(await wordOf(send({ theirNumber: '15551230009' }))).toBe('recipient_opted_out')
    expect(await wordOf(send({ idempotency }))).toBe('accepted')
    expect(await wordOf(send({ idempotency }))).toBe('known_key')
    expect(await used('daily_segments')).toBe(1)
    expect(await wordOf(send())).toBe('accepted')
    expect(await wordOf(send())).toBe('spend_limit_reached')
    expect(await wordOf(send({ idempotency }))).toBe('known_key')
    expect(await wordOf(send({ theirNumber: '15551230009' }))).toBe('recipient_opted_out')
  })

  it('wastes no room on messages refused for another reason in the same batch', async () => {
    await setGuards({ daily_segments: 2 })
    await database.sql`insert into opt_outs (account_id, number, source)
      values (${test.accountId}, '15551230009', 'keyword')`
    const sends = ['15551230009', '15551230009', '15551230001', '15551230002', '15551230003'].map((theirNumber) =>
      send({ theirNumber }),
    )
    const results = await Promise.all(sends)
    expect(results.map((one) => (one.kind === 'refused' ? one.refusal : one.kind))).toEqual([
      'recipient_opted_out',
      'recipient_opted_out',
      'accepted',
      'accepted',
      'spend_limit_reached',
    ])
    expect(await inForce()).toMatchObject([{ refused: 1 }])
  })

  it('that is set during a day covers the whole day', async () => {
    const before = [await send({ segments: 3 }), await send({ segments: 2, isTest: true }), await send({ segments: 4 })]
    expect(words(before)).toEqual(['accepted', 'accepted', 'accepted'])
    await setGuards({ daily_segments: 9 })
    // Two remain, in either order of the processes.
    expect(words(await sendAll([1, 1, 1, 1].map((segments) => test.draft({ segments }))))).toEqual([
      'accepted',
      'accepted',
      'spend_limit_reached',
      'spend_limit_reached',
    ])
    expect(await used('daily_segments')).toBe(9)
  })

  it('includes the minutes before its first whole hour', async () => {
    const early = await test.send({ segments: 7 })
    const rows = [await test.send({ segments: 3 }), await test.send({ segments: 2, isTest: true }), await test.send()]
    const reply = await test.send({ segments: 5 })
    const { accountId, db } = test
    const startsAt = rows[0]?.createdAt ?? new Date()
    await db.query(`update messages set created_at = $2::timestamptz - interval '1 ms' where id = $1`, [
      early.id,
      startsAt,
    ])
    await db.query(
      `update messages set status = 'sent', carrier_id = $1, cost = 0.02, cost_currency = 'EUR', cost_carrier_id = $1`,
      [test.carrierId],
    )
    await db.query(`update messages set status = 'received' where id = $1`, [reply.id])
    const endsAt = new Date(startsAt.getTime() + 24 * 3_600_000)
    const window = { accountId, startsAt, endsAt, action: 'block', limit: 9 } as const
    const amounts = [
      { window: { ...window, kind: 'daily_segments', key: '' }, amount: 1 },
      { window: { ...window, kind: 'spend', key: 'EUR' }, amount: 5 },
      { window: { ...window, kind: 'spend', key: 'USD' }, amount: 5 },
    ] as const
    const before = async (): Promise<(number | undefined)[]> => {
      const all = await inTransaction(db, (tx) => useWindows(tx, amounts))
      return amounts.map((one) => all.get(nameOf(one.window)))
    }
    const read = (): Promise<number[]> => Promise.all(amounts.map((one) => readUsed(db, one.window)))
    expect(await read()).toEqual([4, 40_000, 0])
    expect(await before()).toEqual([4, 40_000, 0])
    expect(await before()).toEqual([5, 40_005, 5])
    expect(await read()).toEqual([6, 40_010, 10])
  })

  it('does not stop other accounts', async () => {
    await setGuards({ daily_segments: 0 })
    const other = await openLedgerTest(database.db)
    expect(await wordOf(send())).toBe('spend_limit_reached')
    expect(await wordOf(test.acceptor.accept(other.draft({ accountId: other.accountId })))).not.toBe(
      'spend_limit_reached',
    )
  })

  it('is reported once, by its own event and the common one', async () => {
    await test.subscribe('guard.tripped', 'spend.limit_reached', 'guard.released')
    await setGuards({ daily_segments: 1 })
    await send()
    await Promise.all(Array.from({ length: 5 }, () => send()))
    await send()
    expect(await eventTypes()).toEqual(['guard.tripped', 'spend.limit_reached'])
    expect(await inForce()).toMatchObject([{ refused: 6 }])
  })

  it('continues by the amount it was raised, and stops again', async () => {
    await test.subscribe('guard.tripped', 'guard.released')
    await setGuards({ daily_segments: 1 })
    await send()
    const { guardId } = stopOf(await send())
    await release(guardId ?? '', { raisedBy: 2 })
    expect(await inForce()).toEqual([])
    expect(words(await Promise.all([send(), send(), send()]))).toEqual(['accepted', 'accepted', 'spend_limit_reached'])
    expect(await inForce()).toMatchObject([{ limit: 3 }])
    expect(await eventTypes()).toEqual(['guard.released', 'guard.tripped', 'guard.tripped'])
  })

  it('stops nothing until its release ends, and again afterwards', async () => {
    await setGuards({ daily_segments: 1 })
    await send()
    const { guardId } = stopOf(await send())
    await release(guardId ?? '', { until: new Date(Date.now() + 60_000) })
    expect(await wordOf(send())).toBe('accepted')
    await database.sql`update guards set released_until = now() - interval '1 second'`
    expect(await wordOf(send())).toBe('spend_limit_reached')
  })

  it('starts again with the account’s day', async () => {
    await setGuards({ daily_segments: 1 }, 'Pacific/Auckland')
    await send()
    const stop = stopOf(await send())
    expect(stop.window).toMatchObject(dayAt('Pacific/Auckland', new Date()))
    // Moves the window to yesterday, as if a day had passed.
    await database.sql`update guard_counters
      set starts_at = starts_at - interval '1 day', ends_at = ends_at - interval '1 day'`
    await database.sql`update guards
      set starts_at = starts_at - interval '1 day', ends_at = ends_at - interval '1 day'`
    for (const counted of ['tallies', 'tally_deltas'])
      await database.db.query(`update ${counted} set hour = hour - interval '1 day'`)
    expect(await inForce()).toEqual([])
    expect(await wordOf(send())).toBe('accepted')
    expect(await wordOf(send())).toBe('spend_limit_reached')
  })

  it('refuses an atomic batch as a whole, counts none of it, and is still reported', async () => {
    await test.subscribe('guard.tripped')
    await setGuards({ daily_segments: 3 })
    const batch = Array.from({ length: 4 }, () => test.draft())
    const { isWritten, results } = await test.acceptor.acceptAtomically(batch)
    expect(isWritten).toBe(false)
    expect(words(results)).toEqual(['accepted', 'accepted', 'accepted', 'spend_limit_reached'])
    expect(await used('daily_segments')).toBe(0)
    expect(await inForce()).toMatchObject([{ refused: 1 }])
    expect(await eventTypes()).toEqual(['guard.tripped'])
    expect((await test.acceptor.acceptAtomically(batch.slice(1))).isWritten).toBe(true)
    expect(await used('daily_segments')).toBe(3)
  })

  it('does not count messages of test mode', async () => {
    await setGuards({ daily_segments: 0 })
    expect(await wordOf(send({ isTest: true }))).not.toBe('spend_limit_reached')
  })
})

describe('countries', () => {
  it('that are not allowed get nothing until the stop is released', async () => {
    await setGuards({ allowed_countries: ['US', 'CA'] })
    const [ours, theirs] = await Promise.all([send(), send({ theirNumber: '447400123456' })])
    expect(ours.kind).toBe('accepted')
    expect(stopOf(theirs)).toMatchObject({ refusal: 'destination_not_allowed', window: { key: 'GB' } })
    await release(stopOf(theirs).guardId ?? '', { until: new Date(Date.now() + 60_000) })
    expect(await wordOf(send({ theirNumber: '447400123456' }))).toBe('accepted')
    expect(await wordOf(send({ theirNumber: '491711234567' }))).toBe('destination_not_allowed')
  })

  it('have hourly limits, and some only report', async () => {
    await test.subscribe('guard.tripped')
    await setGuards({
      country_limits: [
        { country: 'GB', per_hour: 2, action: 'block' },
        { country: 'DE', per_hour: 1, action: 'alert' },
      ],
    })
    const many = (theirNumber: string): Promise<Accepted[]> =>
      Promise.all(Array.from({ length: 4 }, () => send({ theirNumber })))
    expect(words(await many('447400123456'))).toEqual([
      'accepted',
      'accepted',
      'country_limit_reached',
      'country_limit_reached',
    ])
    expect(words(await many('491711234567'))).toEqual(['accepted', 'accepted', 'accepted', 'accepted'])
    expect(await eventTypes()).toEqual(['guard.tripped', 'guard.tripped'])
    expect((await inForce()).map(({ key, action }) => `${key} ${action}`).toSorted()).toEqual(['DE alert', 'GB block'])
  })
})

describe('velocity', () => {
  it('stops consecutive numbers, and only those', async () => {
    await setGuards({ per_prefix_per_hour: 3 })
    const row = Array.from({ length: 5 }, (_, i) => send({ theirNumber: `1555123000${i}` }))
    const results = await Promise.all(row)
    expect(words(results).filter((word) => word === 'fraud_suspected')).toHaveLength(2)
    expect(await wordOf(send({ theirNumber: '15551240000' }))).toBe('accepted')
    const stop = results.find((one) => one.kind === 'refused')
    expect(stop && stopOf(stop).window.key).toBe('1555123')
  })
})

describe('the window of duplicates', () => {
  it('does not count a test as the message', async () => {
    await setGuards({ dedupe_window: 60 })
    expect(await wordOf(send({ isTest: true }))).toBe('accepted')
    expect(await wordOf(send())).toBe('accepted')
    expect(await wordOf(send({ isTest: true }))).toBe('duplicate_message')
  })

  it('accepts one of many at once in two processes, and names it', async () => {
    await setGuards({ dedupe_window: 60 })
    const results = await sendAll(Array.from({ length: 20 }, () => test.draft()))
    const accepted = results.flatMap((one) => (one.kind === 'accepted' ? [one.row.id] : []))
    expect(accepted).toHaveLength(1)
    for (const one of results)
      if (one.kind === 'refused')
        expect(one).toMatchObject({ refusal: 'duplicate_message', stop: { earlierId: accepted[0] } })
    expect(await wordOf(send({ body: 'Hello again' }))).toBe('accepted')
    expect(await wordOf(send({ theirNumber: '15551230002' }))).toBe('accepted')
  })

  it('forgets refused and old messages', async () => {
    await setGuards({ dedupe_window: 60, daily_segments: 0 })
    expect(words(await Promise.all([send(), send()]))).toEqual(['spend_limit_reached', 'spend_limit_reached'])
    expect(await test.count('recent_sends', 'true')).toBe(0)
    await setGuards({ dedupe_window: 60 })
    expect(await wordOf(send())).toBe('accepted')
    // A repetition does not use up the message that it repeats.
    expect([await wordOf(send()), await wordOf(send())]).toEqual(['duplicate_message', 'duplicate_message'])
    await database.sql`update recent_sends set until = now() - interval '1 second'`
    expect(await wordOf(send())).toBe('accepted')
  })

  it('recognizes a text whose short links have other codes', async () => {
    await setGuards({ dedupe_window: 60 })
    const look = (code: string, url: string): Promise<string | undefined> =>
      wordOf(send({ body: `Look: https://s.example/${code}`, shortLinks: [{ code, url }] }))
    expect(await look('AAAAAAAAAA', 'https://example.com/$&')).toBe('accepted')
    expect(await look('BBBBBBBBBB', 'https://example.com/$&')).toBe('duplicate_message')
    expect(await look('CCCCCCCCCC', 'https://example.com/other')).toBe('accepted')
  })

  it('answers a repeated key as before', async () => {
    await setGuards({ dedupe_window: 60 })
    const idempotency = { operation: 'messages.send', key: 'two', fingerprint: Buffer.from('x') }
    expect(await wordOf(send({ idempotency }))).toBe('accepted')
    expect(await wordOf(send({ idempotency }))).toBe('known_key')
  })
})

describe('a daily cap of money', () => {
  const spend = { daily_limit: '0.03', currency: 'EUR' }

  async function setRate(currency: string): Promise<void> {
    await database.sql`insert into rates (carrier_id, destination, effective_from, cost, currency)
      values (${test.carrierId}, 'US', now() - interval '1 day', 4000, ${currency})`
    await database.sql`update routes_version set version = version + 1, rates = rates + 1`
    await test.routing.refresh()
  }

  it('is never exceeded, by sends at once in two processes', async () => {
    await setRate('EUR')
    await setGuards({ spend })
    const results = await sendAll(Array.from({ length: 12 }, (_, i) => test.draft({ segments: 1 + (i % 2) })))
    const accepted = results.flatMap((one) => (one.kind === 'accepted' ? [one.row.segments * 4000] : []))
    const sum = accepted.reduce((total, cost) => total + cost, 0)
    expect(sum).toBeGreaterThan(22_000)
    expect(sum).toBeLessThanOrEqual(30_000)
    expect(await used('spend')).toBe(sum)
    expect(await inForce()).toMatchObject([{ kind: 'spend', key: 'EUR', limit: 30_000 }])
  })

  it('counts nothing without a price, or with one in another currency', async () => {
    await setGuards({ spend: { daily_limit: '0', currency: 'EUR' } })
    expect(await wordOf(send())).toBe('accepted')
    await setRate('USD')
    expect(await wordOf(send())).toBe('accepted')
    expect(await test.count('guard_counters', 'true')).toBe(0)
  })
})

describe('a window', () => {
  it('starts with its own day’s use in its own currency, without replies, whatever other windows exist', async () => {
    const { db, accountId } = test
    const { startsAt, endsAt } = dayAt('UTC', new Date())
    await db.query(
      `insert into tally_deltas (account_id, hour, type, is_test, segments, to_bucket, carrier_id, currency, messages, cost)
       select $1, date_trunc('hour', now(), 'UTC'), 'otp', false, 2, bucket, $2, currency, 3, cost
       from (values ('sent', 'EUR', 0.02), ('sent', 'USD', 5), ('received', null, 0)) as d (bucket, currency, cost)`,
      [accountId, test.carrierId],
    )
    // Another currency on the same day, and the day before.
    await db.query(
      `insert into guard_counters (account_id, kind, key, starts_at, ends_at, used)
       select $1, kind, key, $2::timestamptz - age, $3::timestamptz - age, 7
       from (values ('spend', 'USD', interval '0'), ('spend', 'EUR', interval '1 day'), ('daily_segments', '', interval '1 day'))
         as c (kind, key, age)`,
      [accountId, startsAt, endsAt],
    )
    const day = { accountId, startsAt, endsAt, action: 'block', limit: 9 } as const
    const amounts = [
      { window: { ...day, kind: 'spend', key: 'EUR' }, amount: 1 },
      { window: { ...day, kind: 'daily_segments', key: '' }, amount: 1 },
    ] as const
    expect(await Promise.all(amounts.map(({ window }) => readUsed(db, window)))).toEqual([20_000, 12])
    const before = await inTransaction(db, (tx) => useWindows(tx, amounts))
    expect(amounts.map(({ window }) => before.get(nameOf(window)))).toEqual([20_000, 12])
  })

  it('uses its own amount, and gets its own back, if there are several of a kind', async () => {
    const { startsAt, endsAt } = dayAt('UTC', new Date())
    const hour = { accountId: test.accountId, startsAt, endsAt, action: 'block', limit: 9, kind: 'velocity' } as const
    const amounts = [
      { window: { ...hour, key: '15551' }, amount: 1 },
      { window: { ...hour, key: '15555' }, amount: 5 },
      { window: { ...hour, key: '15551', startsAt: new Date(0) }, amount: 0 },
    ]
    const before = async (): Promise<(number | undefined)[]> => {
      const all = await inTransaction(test.db, (tx) => useWindows(tx, amounts))
      return amounts.map(({ window }) => all.get(nameOf(window)))
    }
    expect(await before()).toEqual([0, 0, 0])
    expect(await before()).toEqual([1, 5, 0])
    await inTransaction(test.db, (tx) => moveWindows(tx, amounts.slice(0, 2)))
    expect(await before()).toEqual([3, 15, 0])
  })

  it('is raised by all its own releases, and by no others', async () => {
    const { db, accountId } = test
    const { startsAt, endsAt } = dayAt('UTC', new Date())
    await db.query(
      `insert into guards (account_id, id, kind, key, action, since, starts_at, ends_at, released_at, raised_by)
       select $1, gen_random_uuid(), 'velocity', key, 'block', now(), $2::timestamptz - age, $3::timestamptz - age, now(), raised_by
       from (values ('1555', interval '0', 2), ('1555', interval '0', 3), ('1555', interval '1 day', 7), ('1556', interval '0', 11))
         as g (key, age, raised_by)`,
      [accountId, startsAt, endsAt],
    )
    const hour = { accountId, startsAt, endsAt, action: 'block', limit: 9, kind: 'velocity' } as const
    const [raised, other] = [
      { ...hour, key: '1555' },
      { ...hour, key: '1557' },
    ]
    expect(await readRelief(db, [raised, other, raised])).toEqual(
      new Map([[nameOf(raised), { raisedBy: 5, until: null }]]),
    )
  })
})

it('deletes expired windows, texts and stops', async () => {
  await setGuards({ daily_segments: 1, dedupe_window: 1 })
  await send()
  await send({ body: 'two' })
  // Not earlier: a window is in force to its end, stops are listed for months, and a text may be repeated later.
  await database.sql`update guard_counters set ends_at = now() - interval '23 hours'`
  await database.sql`update guards set ends_at = now() - interval '89 days'`
  await database.sql`update recent_sends set until = now() + interval '1 minute'`
  expect(await forgetWindows(database.db, 10)).toBe(0)
  for (const table of ['guards', 'guard_counters', 'recent_sends']) expect(await test.count(table, 'true')).toBe(1)
  await database.sql`update guard_counters set ends_at = ends_at - interval '3 days'`
  await database.sql`update guards set ends_at = ends_at - interval '91 days'`
  await database.sql`update recent_sends set until = now() - interval '1 second'`
  expect(await forgetWindows(database.db, 10)).toBe(1)
  for (const table of ['guards', 'guard_counters', 'recent_sends']) expect(await test.count(table, 'true')).toBe(0)
})

async function setGuards(guards: object, timezone = 'UTC'): Promise<void> {
  await database.sql`update accounts set settings = ${JSON.stringify({ guards, timezone })}
    where id = ${test.accountId}`
  await test.context.guards.refresh()
}

function sendAll(drafts: readonly Draft[]): Promise<Accepted[]> {
  const other = new Acceptor({ ...test.context, ownLinks: test.ownLinks, routing: test.routing })
  return Promise.all(drafts.map((draft, i) => (i % 2 === 0 ? test.acceptor : other).accept(draft)))
}

const send = (changes: Partial<Draft> = {}): Promise<Accepted> => test.acceptor.accept(test.draft(changes))
const words = (results: Accepted[]): string[] =>
  results.map((one) => (one.kind === 'refused' ? one.refusal : one.kind)).toSorted()
const wordOf = async (sending: Promise<Accepted>): Promise<string | undefined> => words([await sending])[0]
const stopOf = (result: Accepted): Stop => {
  if (result.kind !== 'refused' || !result.stop) throw new Error(`not stopped: ${result.kind}`)
  return result.stop
}
const inForce = (): Promise<GuardRow[]> => listStops(database.db, test.accountId, 50, null)
const used = async (kind: string): Promise<number> => {
  const [row] = await database.sql<{ used: number }>`select coalesce(sum(used), 0)::bigint as used
    from guard_counters where account_id = ${test.accountId} and kind = ${kind}`
  return row?.used ?? 0
}
const segmentsAccepted = async (): Promise<number> => {
  const [row] = await database.sql<{ sum: number }>`select coalesce(sum(segments), 0)::bigint as sum from messages
    where account_id = ${test.accountId}`
  return row?.sum ?? 0
}
const release = (id: string, changes: Partial<Release> = {}): ReturnType<typeof releaseStops> =>
  inTransaction(database.db, (tx) =>
    releaseStops(
      tx,
      test.context,
      test.accountId,
      { id },
      { by: 'usr_1', reason: 'known', until: null, raisedBy: null, ...changes },
    ),
  )
const eventTypes = async (): Promise<string[]> => {
  const rows = await database.sql<{ type: string }>`select type from events
    where account_id = ${test.accountId} and type <> 'message.failed' order by type`
  return rows.map(({ type }) => type)
}
