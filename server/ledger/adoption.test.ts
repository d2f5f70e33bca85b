import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decideAdoptions, readCarrierDate, referenceOf, type TryWithoutId, type UnmatchedReceipt } from './adoption.ts'

const at = (minutes: number): Date => new Date(Date.UTC(2026, 10, 21, 12, 0) + minutes * 60_000)
const aTry = (changes: Partial<TryWithoutId> = {}): TryWithoutId => ({
  accountId: 'a',
  messageId: 'm1',
  segment: 1,
  try: 1,
  linkId: 'l',
  theirNumber: '15551230001',
  ourNumber: '15557654321',
  reference: 1,
  intentAt: at(0),
  isBusy: false,
  ...changes,
})
const aReceipt = (changes: Partial<UnmatchedReceipt> = {}): UnmatchedReceipt => ({
  linkId: 'l',
  matchId: 'x1',
  rawId: 'x1',
  source: '15551230001',
  destination: '15557654321',
  submitDate: '2611211200',
  reference: null,
  receivedAt: at(1),
  ...changes,
})

describe('a receipt without a reference', () => {
  it('matches the only try with its numbers', () => {
    expect(pairs([aTry()], [aReceipt()])).toEqual([['m1', 1, 1, 'x1']])
  })

  it.each<[string, TryWithoutId[], UnmatchedReceipt[]]>([
    ['there are two messages', [aTry(), aTry({ messageId: 'm2' })], [aReceipt()]],
    ['there are two segments', [aTry(), aTry({ segment: 2 })], [aReceipt()]],
    ['there are two receipts', [aTry()], [aReceipt(), aReceipt({ matchId: 'x2' })]],
    ['another message is with the carrier', [aTry({ isBusy: true })], [aReceipt()]],
    ['the person is another', [aTry()], [aReceipt({ source: '15551230002' })]],
    ['the sender is another', [aTry()], [aReceipt({ destination: '15557654322' })]],
    ['the link is another', [aTry()], [aReceipt({ linkId: 'k' })]],
    ['it was submitted six minutes later', [aTry()], [aReceipt({ submitDate: '2611211206', receivedAt: at(7) })]],
    ['it was submitted a day later', [aTry()], [aReceipt({ submitDate: '2611221200', receivedAt: at(1441) })]],
    ['it came before', [aTry()], [aReceipt({ receivedAt: at(-2) })]],
    ['it came late and does not say of when it is', [aTry()], [aReceipt({ submitDate: null, receivedAt: at(6) })]],
  ])('matches none if %s', (_, tries, unmatched) => {
    expect(decideAdoptions(tries, unmatched)).toEqual([])
  })

  it('may have a date in any zone, or none if it arrives soon', () => {
    for (const submitDate of ['2611211730', '2611210401', '20261121020345', null])
      expect(pairs([aTry()], [aReceipt({ submitDate })])).toHaveLength(1)
  })

  it('may match any try of one segment: each gets one', () => {
    const tries = [aTry({ try: 2, intentAt: at(1) }), aTry()]
    expect(pairs(tries, [aReceipt()])).toEqual([['m1', 1, 1, 'x1']])
    const unmatched = [aReceipt({ matchId: 'x2', receivedAt: at(2) }), aReceipt()]
    expect(pairs(tries, unmatched)).toEqual([
      ['m1', 1, 1, 'x1'],
      ['m1', 1, 2, 'x2'],
    ])
  })

  it('may name a padded number, and match a message without a sender', () => {
    expect(pairs([aTry()], [aReceipt({ destination: '15557654321'.padEnd(64, '0') })])).toHaveLength(1)
    expect(pairs([aTry({ ourNumber: null })], [aReceipt()])).toHaveLength(1)
  })
})

describe('a receipt with our reference', () => {
  const segments = [1, 2, 3].map((segment) => aTry({ segment, reference: segment * 100, isBusy: true }))

  it('matches its try, whatever else is sent to the person', () => {
    const unmatched = [aReceipt({ reference: 200 }), aReceipt({ matchId: 'x2', reference: 100 })]
    expect(pairs(segments, unmatched)).toEqual([
      ['m1', 2, 1, 'x1'],
      ['m1', 1, 1, 'x2'],
    ])
  })

  it('matches none if no try has it, or two receipts do', () => {
    expect(pairs([aTry()], [aReceipt({ reference: 7 })])).toEqual([])
    expect(pairs([aTry()], [aReceipt({ reference: 1 }), aReceipt({ reference: 1, matchId: 'x2' })])).toEqual([])
  })

  it('leaves the others to be matched by their numbers', () => {
    const tries = [aTry(), aTry({ messageId: 'm2', reference: 2 })]
    expect(pairs(tries, [aReceipt({ reference: 2 }), aReceipt({ matchId: 'x2' })])).toEqual([
      ['m2', 1, 1, 'x1'],
      ['m1', 1, 1, 'x2'],
    ])
  })
})

it('never uses a try or a receipt twice, and matches a receipt without a reference only for a person with one open segment', () => {
  const tries = fc.uniqueArray(
    fc
      .record({
        messageId: fc.constantFrom('m1', 'm2', 'm3'),
        segment: fc.integer({ min: 1, max: 2 }),
        try: fc.integer({ min: 1, max: 3 }),
        theirNumber: fc.constantFrom('1', '2'),
        isBusy: fc.boolean(),
        minutes: fc.integer({ min: 0, max: 20 }),
      })
      .map(({ minutes, ...one }) => aTry({ ...one, reference: one.segment * 10 + one.try, intentAt: at(minutes) })),
    { maxLength: 6, selector: (one) => `${one.messageId} ${one.segment} ${one.try}` },
  )
  const unmatched = fc.uniqueArray(
    fc
      .record({
        matchId: fc.string({ minLength: 1, maxLength: 2 }),
        source: fc.constantFrom('1', '2'),
        reference: fc.option(fc.integer({ min: 11, max: 23 })),
        minutes: fc.integer({ min: 0, max: 20 }),
      })
      .map(({ minutes, ...one }) => aReceipt({ ...one, receivedAt: at(minutes), submitDate: null })),
    { maxLength: 6, selector: (one) => one.matchId },
  )
  fc.assert(
    fc.property(tries, unmatched, (tries, unmatched) => {
      const adoptions = decideAdoptions(tries, unmatched)
      expect(new Set(adoptions.map((one) => one.try)).size).toBe(adoptions.length)
      expect(new Set(adoptions.map((one) => one.receipt.matchId)).size).toBe(adoptions.length)
      for (const { try: one, receipt } of adoptions) {
        expect(one.theirNumber).toBe(receipt.source)
        if (receipt.reference !== null) expect(receipt.reference).toBe(one.reference)
        else expect(one.isBusy).toBe(false)
      }
      expect(decideAdoptions(tries.toReversed(), unmatched.toReversed())).toHaveLength(adoptions.length)
    }),
    { numRuns: 500 },
  )
})

describe('dates of carriers', () => {
  it.each([
    ['2611211234', '2026-11-21T12:34:00.000Z'],
    ['261121123456', '2026-11-21T12:34:56.000Z'],
    ['202611211234', '2026-11-21T12:34:00.000Z'],
    ['20261121123456', '2026-11-21T12:34:56.000Z'],
    ['2026-11-21 12:34:56', '2026-11-21T12:34:56.000Z'],
    ['261121123456000+', '2026-11-21T12:34:56.000Z'],
  ])('%s', (text, iso) => {
    expect(new Date(readCarrierDate(text) ?? 0).toISOString()).toBe(iso)
  })

  it.each(['', 'invaliddate', '0000000000', '2613211234', '2611'])('%j is invalid', (text) => {
    expect(readCarrierDate(text)).toBeNull()
  })
})

it('a reference distinguishes segments and tries of a message, in 16 bits', () => {
  const id = '019aa5d0-0000-7000-8000-00000000ffff'
  const references = [1, 2, 3].flatMap((segment) => [1, 2, 3].map((ofTry) => referenceOf(id, segment, ofTry)))
  expect(new Set(references).size).toBe(9)
  for (const reference of references) expect(reference).toBeLessThanOrEqual(0xffff)
})

const pairs = (tries: TryWithoutId[], unmatched: UnmatchedReceipt[]): [string, number, number, string][] =>
  decideAdoptions(tries, unmatched).map(({ try: one, receipt }) => [
    one.messageId,
    one.segment,
    one.try,
    receipt.matchId,
  ])
