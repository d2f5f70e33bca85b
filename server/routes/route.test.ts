import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { noRates, type RateOf } from '../rates/rate.ts'
import { chooseRoute, compileRoutes, type RoutableCarrier, type RoutableMessage, type Rule } from './route.ts'
import { testRule } from '../carriers/testing.ts'

const carrier = (id: string, changes: Partial<RoutableCarrier> = {}): RoutableCarrier => ({
  id,
  enabled: true,
  priority: 100,
  ...changes,
})
const abc = ['a', 'b', 'c'].map((id) => carrier(id))

describe('anything', () => {
  const ids = fc.constantFrom('a', 'b', 'c', 'd')
  const some = <T>(item: fc.Arbitrary<T>): fc.Arbitrary<T[]> => fc.array(item, { maxLength: 2 })
  const maybe = <T>(item: fc.Arbitrary<T>): fc.Arbitrary<T | null> => fc.option(item, { freq: 1 })
  const type = fc.constantFrom('otp', 'transactional', 'marketing' as const)
  const country = fc.constantFrom('US', 'GB', 'DE')
  const sender = fc.constantFrom('15557654321', 'Acme')
  const rules = fc
    .array(
      fc.record({
        enabled: fc.boolean(),
        accountId: maybe(fc.constantFrom('one', 'two')),
        campaignId: maybe(fc.constantFrom('x', 'y')),
        type: maybe(type),
        countries: some(country),
        prefixes: some(fc.constantFrom('1', '15', '1555', '44', '449')),
        senders: some(sender),
        carriers: fc.uniqueArray(
          fc.record({
            carrierId: ids,
            weight: maybe(fc.integer({ min: 0, max: 5 })),
            cost: maybe(fc.integer({ min: 0, max: 5 })),
          }),
          { maxLength: 4, selector: (one) => one.carrierId },
        ),
        maxCost: maybe(fc.integer({ min: 0, max: 10 })),
        currency: maybe(fc.constantFrom('EUR', 'USD')),
      }),
      { maxLength: 12 },
    )
    .map((list) => list.map((one, i): Rule => ({ ...one, id: `r${i}` })))
  const carriers = fc.uniqueArray(
    fc.record({ id: ids, enabled: fc.boolean(), priority: fc.integer({ min: 0, max: 3 }) }),
    { selector: (one) => one.id },
  )
  const messages = fc
    .record({
      id: fc.uuid(),
      accountId: fc.constantFrom('one', 'two', 'three'),
      campaignId: maybe(fc.constantFrom('x', 'y', 'z')),
      type,
      to: fc.constantFrom('15551230001', '16661230001', '447700900001', '4915112345678'),
      country: maybe(country),
      sender: maybe(sender),
      senderCarrierIds: maybe(some(ids)),
      segments: fc.integer({ min: 1, max: 4 }),
    })
    .map((one) => one as RoutableMessage)

  const someRates: RateOf = (carrierId, to) =>
    carrierId === 'd' ? null : { amount: to.startsWith('44') ? 3 : 1, currency: carrierId === 'a' ? 'USD' : 'EUR' }

  it('has one route: compiled or not, now or later', () => {
    fc.assert(
      fc.property(rules, carriers, messages, fc.constantFrom(noRates, someRates), (some, known, one, rateOf) => {
        const { trace, ...choice } = chooseRoute(some, known, one, rateOf)
        expect(compileRoutes(some, known, rateOf)(one)).toEqual(choice)
        expect(chooseRoute(some, known, one, rateOf)).toEqual({ ...choice, trace })
      }),
      { numRuns: 2000 },
    )
  })

  it('takes the first matching rule, never a disabled one, and a chain without repetitions', () => {
    fc.assert(
      fc.property(rules, carriers, messages, (some, known, one) => {
        const { ruleId, chain, isHeld, trace } = chooseRoute(some, known, one)
        const first = trace.find(({ miss }) => miss === null)
        expect(ruleId).toBe(first?.ruleId ?? null)
        expect(trace.filter(({ isTaken }) => isTaken)).toEqual(first ? [first] : [])
        expect(some.find(({ id }) => id === ruleId)?.enabled ?? true).toBe(true)
        expect(new Set(chain).size).toBe(chain.length)
        const enabled = known.filter((carrier) => carrier.enabled).map(({ id }) => id)
        if (!isHeld) for (const id of chain) expect(enabled).toContain(id)
        else for (const id of chain) expect(enabled).not.toContain(id)
        if (one.senderCarrierIds) for (const id of chain) expect(one.senderCarrierIds).toContain(id)
      }),
      { numRuns: 2000 },
    )
  })
})

describe('a rule', () => {
  it('divides messages by weight within two percentage points, and tries the others after', () => {
    const shared = testRule('r', {
      carriers: [
        { carrierId: 'a', weight: 70, cost: null },
        { carrierId: 'b', weight: 20, cost: null },
        { carrierId: 'c', weight: 10, cost: null },
      ],
    })
    const choose = compileRoutes([shared], abc)
    const counts = new Map<string, number>()
    const n = 20_000
    for (let i = 0; i < n; i++) {
      const { chain } = choose(message({ id: `019a0000-0000-7000-8000-${String(i).padStart(12, '0')}` }))
      expect(chain).toHaveLength(3)
      counts.set(chain[0] ?? '', (counts.get(chain[0] ?? '') ?? 0) + 1)
    }
    for (const [id, share] of [
      ['a', 0.7],
      ['b', 0.2],
      ['c', 0.1],
    ] as const)
      expect(Math.abs((counts.get(id) ?? 0) / n - share)).toBeLessThan(0.02)
  })

  it('fails over in order, after the weighted carriers; weight 0 comes last of those', () => {
    const chain = [
      { carrierId: 'd', weight: null, cost: null },
      { carrierId: 'b', weight: 0, cost: null },
      { carrierId: 'a', weight: 1, cost: null },
      { carrierId: 'c', weight: null, cost: null },
    ]
    const carriers = [...abc, carrier('d')]
    expect(chooseRoute([testRule('r', { carriers: chain })], carriers, message()).chain).toEqual(['a', 'b', 'd', 'c'])
  })

  it('skips carriers without the sender, and does not match if none is left', () => {
    const rules = [testRule('first', { carriers: via('a') }), testRule('second', { carriers: via('b', 'c') })]
    const choice = chooseRoute(rules, abc, message({ sender: 'Acme', senderCarrierIds: ['c'] }))
    expect(choice).toEqual({
      ruleId: 'second',
      chain: ['c'],
      isHeld: false,
      trace: [
        { ruleId: 'first', miss: 'sender_carrier', isTaken: false },
        { ruleId: 'second', miss: null, isTaken: true },
      ],
    })
  })

  it('compares the cost of all segments', () => {
    const costly = testRule('r', {
      maxCost: 10_000,
      carriers: [
        { carrierId: 'a', weight: 1, cost: 6_000 },
        { carrierId: 'b', weight: null, cost: 5_000 },
      ],
    })
    expect(chooseRoute([costly], abc, message()).chain).toEqual(['a', 'b'])
    expect(chooseRoute([costly], abc, message({ segments: 2 })).chain).toEqual(['b'])
    expect(chooseRoute([costly], abc, message({ segments: 3 }))).toMatchObject({
      ruleId: null,
      trace: [{ miss: 'max_cost' }],
    })
  })

  it('compares rate cards, in its currency, if the rule has no prices', () => {
    const rateOf: RateOf = (carrierId) =>
      carrierId === 'c' ? null : { amount: 6_000, currency: carrierId === 'a' ? 'EUR' : 'USD' }
    const capped = testRule('r', {
      maxCost: 6_000,
      currency: 'EUR',
      carriers: [
        { carrierId: 'a', weight: null, cost: null },
        { carrierId: 'b', weight: null, cost: null },
        { carrierId: 'c', weight: null, cost: null },
        { carrierId: 'd', weight: null, cost: 5_000 },
      ],
    })
    const four = [...abc, { id: 'd', enabled: true, priority: 100 }]
    expect(chooseRoute([capped], four, message(), rateOf)).toMatchObject({
      chain: ['a', 'd'],
      prices: [
        { amount: 6_000, currency: 'EUR' },
        { amount: 5_000, currency: 'EUR' },
      ],
    })
    expect(chooseRoute([], four, message(), rateOf).prices).toEqual([
      { amount: 6_000, currency: 'EUR' },
      { amount: 6_000, currency: 'USD' },
      null,
      { amount: 6_000, currency: 'USD' },
    ])
    expect(chooseRoute([], four, message()).prices).toBeUndefined()
  })

  it('without carriers refuses, which also turns the default route off', () => {
    expect(chooseRoute([testRule('none', { carriers: [] })], abc, message())).toMatchObject({
      ruleId: 'none',
      chain: [],
    })
  })

  it('with only disabled carriers holds the message for them', () => {
    const carriers = [carrier('a', { enabled: false }), carrier('b')]
    expect(chooseRoute([testRule('r')], carriers, message())).toMatchObject({ ruleId: 'r', chain: ['a'], isHeld: true })
    expect(chooseRoute([testRule('r', { carriers: via('a', 'b') })], carriers, message())).toMatchObject({
      chain: ['b'],
      isHeld: false,
    })
  })
})

it('without rules the best enabled carrier goes first', () => {
  const carriers = [carrier('b', { priority: 1 }), carrier('c', { priority: 1, enabled: false }), carrier('a')]
  expect(compileRoutes([], carriers)(message())).toEqual({ ruleId: null, chain: ['b', 'a'], isHeld: false })
  expect(compileRoutes([], [])(message())).toEqual({ ruleId: null, chain: [], isHeld: false })
})

it('10,000 rules cost a message little more than two', () => {
  const rules = Array.from({ length: 10_000 }, (_, i) =>
    testRule(`r${i}`, i % 2 ? { prefixes: [`1${String(i).padStart(5, '0')}`] } : { accountId: `a${i}`, type: 'otp' }),
  )
  const one = message({ to: '10999900000' })
  const fastest = (of: typeof rules): number => {
    const choose = compileRoutes(of, abc)
    expect(choose(one).ruleId).toBe('r9999')
    const run = (): number => {
      const startedAt = performance.now()
      for (let i = 0; i < 2000; i++) choose(one)
      return performance.now() - startedAt
    }
    return Math.min(...Array.from({ length: 20 }, run))
  }
  // A linear search would take a thousand times as long.
  expect(fastest(rules)).toBeLessThan(fastest(rules.slice(-2)) * 30)
})

const message = (changes: Partial<RoutableMessage> = {}): RoutableMessage => ({
  id: 'm',
  accountId: 'one',
  campaignId: null,
  type: 'transactional',
  to: '15551230001',
  country: 'US',
  sender: null,
  senderCarrierIds: null,
  segments: 1,
  ...changes,
})
const via = (...ids: string[]): Rule['carriers'] => ids.map((carrierId) => ({ carrierId, weight: 1, cost: null }))
