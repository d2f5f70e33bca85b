import fc from 'fast-check'
import { expect, test } from 'vitest'
import { capacityOf, Pace } from './pace.ts'
import { nextGrant, splitUnits, takeGrant, type Grant } from './shares.ts'

test('no second exceeds the rate and one', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 500 }),
      fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 1, maxLength: 20 }),
      (rate, ticks) => {
        const sent = run(new Pace(rate), ticks, 5000)
        return sent.every((at, i) => (sent[i + rate + 1] ?? Infinity) - at >= 1000)
      },
    ),
    { numRuns: 200 },
  )
})

test.for([10, 100, 1000])('a minute at %i a second is within one percent', (rate) => {
  const sent = run(new Pace(rate), [1, 1, 2, 1, 5], 60_000)
  expect(Math.abs(sent.length - rate * 60)).toBeLessThanOrEqual(rate * 0.6 + 1)
})

test.for([
  [1, 1],
  [10, 2],
  [100, 3],
  [1000, 4],
])(
  '%i a second over a minute, shared by %i processes, is within one percent, and no second exceeds the rate',
  ([rate = 1, n = 1]) => {
    const whole = capacityOf(rate)
    const holders = Array.from({ length: n }, (_, i) => ({ nodeId: `${i}`, weight: i + 1 }))
    const parts = [...splitUnits(whole, holders).values()]
    const sent = parts
      .flatMap((units, i) => run(new Pace((rate * units) / whole, units), i % 2 === 0 ? [1, 2] : [1, 1, 4, 3], 60_000))
      .sort((a, b) => a - b)
    expect(Math.abs(sent.length - rate * 60)).toBeLessThanOrEqual(Math.max(rate * 0.6, n))
    expect(sent.every((at, i) => (sent[i + rate + 1] ?? Infinity) - at >= 1000)).toBe(true)
  },
)

test('a changed pace still counts the last second', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 2, maxLength: 6 }), (rates) => {
      const pace = new Pace(rates[0] ?? 1)
      const sent: number[] = []
      let now = 0
      for (const rate of rates) {
        pace.set(rate)
        for (const end = now + 700; now < end; now += 3) while (pace.take(now)) sent.push(now)
      }
      const most = Math.max(...rates) + 1
      return sent.every((at, i) => (sent[i + most] ?? Infinity) - at >= 1000)
    }),
  )
})

test('no second exceeds the whole if a process loses its part and regains it within that second', () => {
  const rate = 20
  const units = capacityOf(rate)
  let mine: Grant = { used: 11, written: 11, loweredAt: -Infinity }
  const one = new Pace((rate * 11) / units, 11)
  const other = new Pace((rate * 10) / units, 10)
  const take = (target: number, now: number): void => {
    mine = takeGrant(mine, nextGrant(mine, target, units, 10, now), now)
    one.set((rate * mine.used) / units, mine.used)
  }
  const sent: number[] = []
  for (let now = 5000; now < 7000; now += 5) {
    // Its session is lost, and bound again at once.
    if (now === 5500) take(0, now)
    if (now === 5600) take(11, now)
    // Both begin with the catch-up of a stalled loop, so that the last segments of the second have to wait.
    for (const pace of [one, other]) while (pace.take(now)) sent.push(now)
  }
  expect(sent.filter((at) => at < 6000)).toHaveLength(units)
})

test('no second exceeds the whole, whatever parts processes get and when, and however they stall', () => {
  const rate = 20
  const units = capacityOf(rate)
  const step = fc.record({
    ms: fc.integer({ min: 1, max: 250 }),
    who: fc.integer({ min: 0, max: 2 }),
    // Mostly sends; a turn is decided, and then applied.
    act: fc.constantFrom('send', 'send', 'send', 'turn'),
    target: fc.integer({ min: 0, max: units }),
  })
  fc.assert(
    fc.property(fc.array(step, { minLength: 100, maxLength: 300 }), (steps) => {
      const grant: Grant = { used: 0, written: 0, loweredAt: -Infinity }
      const all = [0, 1, 2].map(() => ({ pace: new Pace(0, 0), grant, decided: null as Grant | null, written: 0 }))
      const sent: number[] = []
      let now = 0
      for (const { ms, who, act, target } of steps) {
        now += ms
        const one = all[who]
        if (!one) continue
        if (act === 'send') while (one.pace.take(now)) sent.push(now)
        else if (one.decided) {
          one.grant = takeGrant(one.grant, one.decided, now)
          one.pace.set((rate * one.grant.used) / units, one.grant.used)
          one.decided = null
        } else {
          const others = all.reduce((sum, other) => (other === one ? sum : sum + other.written), 0)
          one.decided = nextGrant(one.grant, target, units, others, now)
          one.written = one.decided.written
        }
      }
      return sent.every((at, i) => (sent[i + units] ?? Infinity) - at >= 1000)
    }),
    { numRuns: 500 },
  )
})

test('a part of zero never comes', () => {
  const pace = new Pace(0, 0)
  expect([pace.take(1e9), pace.wait(1e9), pace.ahead(1e9, 250)]).toEqual([false, Infinity, 0])
})

test('the wait lasts until the next turn', () => {
  const pace = new Pace(10)
  for (let n = 0; n < 11; n++) pace.take(1000)
  expect(pace.wait(1000)).toBeGreaterThan(0)
  expect(pace.take(1000 + pace.wait(1000))).toBe(true)
})

test('a new pace applies to the next turn, however long it was to be', () => {
  const pace = new Pace(0.01)
  expect(pace.take(0)).toBe(true)
  expect(pace.wait(1000)).toBeGreaterThan(90_000)
  pace.set(0, 0)
  pace.set(10)
  expect(pace.wait(1001)).toBe(0)
  pace.set(0.01)
  expect(pace.wait(1001)).toBeGreaterThan(90_000)
})

test('a second counts from when the socket got a segment, not from its turn', () => {
  const pace = new Pace(1)
  expect([pace.take(1000), pace.take(1900)]).toEqual([true, true])
  pace.written(1950)
  expect([pace.isDue(2900), pace.isDue(2960)]).toEqual([false, true])
})

test('a throttled link slows down at once and recovers slowly', () => {
  const pace = new Pace(100)
  pace.slowDown(0)
  // A window of refusals counts once.
  pace.slowDown(999)
  expect(pace.rate(0)).toBe(50)
  pace.slowDown(1000)
  expect(pace.rate(1000)).toBeCloseTo(26.25)
  expect(pace.isSlowed(1000)).toBe(true)
  expect(pace.rate(11_000)).toBeCloseTo(51.25)
  expect(pace.rate(120_000)).toBe(100)
  expect(pace.isSlowed(120_000)).toBe(false)
})

/** Sends as fast as the pace allows on a clock that ticks irregularly; returns the times. */
function run(pace: Pace, ticks: number[], totalMs: number): number[] {
  const sent: number[] = []
  let now = 1000
  for (let i = 0; now < 1000 + totalMs; i++) {
    while (pace.take(now)) sent.push(now)
    now += ticks[i % ticks.length] ?? 1
  }
  return sent
}
