/** Decisions of links without a socket: moves, waits and turns. */
import { ESME, type CloseReason, type Outcome } from '@heliogram/smpp'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Handover } from '../message/handover.ts'
import type { MessageType } from '../message/message.ts'
import { reasonOfStatus } from '../message/taxonomy.ts'
import { decideMove, readOutcome, refusalOf, type SegmentEnd } from '../links/attempt.ts'
import { backOffMs } from '../links/backoff.ts'
import { LaneTurns } from '../links/lanes.ts'
import { testHandover } from './testing.ts'

const handover = testHandover({
  id: '01900000-0000-7000-8000-00000000abcd',
  expiresAt: new Date('2026-11-20T12:00:00Z'),
})

describe('a move', () => {
  const accepted: SegmentEnd = { state: 'accepted', status: 0 }
  const released: SegmentEnd = { state: 'released' }
  const unknown: SegmentEnd = { state: 'unknown', reason: 'the carrier did not answer in time' }
  const refused = (status: number): SegmentEnd => refusalOf(status, reasonOfStatus(status))
  const move = (...ends: SegmentEnd[]): unknown => {
    const { to, retryAfterMs, errorCode } = decideMove({ handover, ends }, () => 0.5)
    return [to, retryAfterMs, errorCode]
  }

  it.each<[string, SegmentEnd[], unknown]>([
    ['all accepted', [accepted, accepted], ['sent', null, null]],
    ['nothing written', [released, released], ['queued', null, null]],
    ['half written', [accepted, released], ['queued', null, null]],
    ['throttled', [refused(ESME.RTHROTTLED)], ['queued', 1000, null]],
    ['queue full, half accepted', [accepted, refused(ESME.RMSGQFUL)], ['queued', 1000, null]],
    ['a fault', [refused(ESME.RSYSERR)], ['queued', 2000, null]],
    ['submit failed', [refused(ESME.RSUBMITFAIL)], ['queued', 2000, null]],
    ['bad number', [refused(ESME.RINVDSTADR)], ['rejected', null, 'invalid_destination']],
    ['bad sender', [accepted, refused(ESME.RINVSRCADR)], ['rejected', null, 'invalid_sender']],
    [
      'bad number among passing refusals',
      [refused(ESME.RTHROTTLED), refused(ESME.RINVDSTADR)],
      ['rejected', null, 'invalid_destination'],
    ],
    ['unknown, whatever else', [refused(ESME.RINVDSTADR), unknown, accepted], ['unconfirmed', null, 'outcome_unknown']],
    ['a code of the carrier’s own', [refused(0x400)], ['rejected', null, 'carrier_unknown']],
  ])('after %s', (_, ends, expected) => expect(move(...ends)).toEqual(expected))

  it('is not an attempt if nothing was written', () => {
    const isUnwritten = (...ends: SegmentEnd[]): boolean | undefined => decideMove({ handover, ends }).isUnwritten
    expect([isUnwritten(released, released), isUnwritten(accepted, released)]).toEqual([true, false])
  })

  it.each<[string, Partial<Handover>, SegmentEnd[], string | null | undefined]>([
    ['drops a carrier that refuses it for good', {}, [refused(ESME.RINVDSTADR)], 'drop'],
    ['asks no other where the text itself is at fault', {}, [refused(ESME.RINVMSGLEN)], null],
    ['stays with a busy carrier', { try: 3 }, [refused(ESME.RTHROTTLED)], null],
    ['stays with a carrier at its second fault', { try: 2 }, [refused(ESME.RSYSERR)], null],
    ['asks the others after the third', { try: 3 }, [refused(ESME.RSYSERR)], 'rotate'],
    ['stays where a segment was taken', { segments: 2 }, [accepted, refused(ESME.RSYSERR)], 'stay'],
    ['stays where a segment was taken before', { segments: 2, pending: [2], try: 3 }, [refused(ESME.RSYSERR)], 'stay'],
    ['goes nowhere else where a segment was taken', { segments: 2 }, [accepted, refused(ESME.RINVDSTADR)], null],
    ['goes nowhere else where nobody knows', { segments: 2 }, [unknown, refused(ESME.RINVDSTADR)], undefined],
  ])('%s', (_, changes, ends, carrier) =>
    expect(decideMove({ handover: { ...handover, ...changes }, ends }).carrier).toBe(carrier),
  )

  it('waits longer each time for a faulty carrier, up to a minute', () => {
    const wait = (tries: number): number | null =>
      decideMove({ handover: { ...handover, try: tries }, ends: [refused(ESME.RSYSERR)] }, () => 0.5).retryAfterMs
    expect([1, 2, 3, 5, 6, 100].map(wait)).toEqual([2000, 4000, 8000, 32_000, 60_000, 60_000])
  })

  it('counts a missing response as unknown, and unwritten bytes as not done', () => {
    const read = (outcome: Outcome): SegmentEnd => readOutcome(outcome, reasonOfStatus)
    expect(read({ kind: 'timeout' })).toMatchObject({ state: 'unknown' })
    expect(read({ kind: 'closed', written: true })).toMatchObject({ state: 'unknown' })
    expect(read({ kind: 'closed', written: false })).toEqual({ state: 'released' })
    const pdu = {} as never
    expect(read({ kind: 'response', status: 0, messageId: '0', pdu })).toMatchObject({ state: 'accepted' })
    expect(read({ kind: 'response', status: 0x58, messageId: '', pdu })).toMatchObject({ state: 'refused' })
  })
})

describe('the wait before a reconnect', () => {
  it.each<[string, number, CloseReason, number, boolean, number]>([
    ['a lost session', 0, 'peer_closed', 0, true, 250],
    ['no connection', 0, 'connect_failed', 0, false, 1000],
    ['no connection, again', 3, 'connect_failed', 0, false, 8000],
    ['no connection for long', 50, 'connect_failed', 0, false, 60_000],
    ['a session that did not live long', 2, 'peer_closed', 0, true, 4000],
    ['a wrong password', 0, 'bind_refused', ESME.RINVPASWD, false, 60_000],
    ['a password that stays wrong', 2, 'bind_refused', ESME.RINVPASWD, false, 240_000],
    ['one that is wrong for days', 40, 'bind_refused', ESME.RINVPASWD, false, 600_000],
    ['a wrong name', 0, 'bind_refused', ESME.RINVSYSID, false, 60_000],
    ['a wrong system type', 0, 'bind_refused', ESME.RINVSYSTYP, false, 60_000],
    ['a session that the carrier still holds', 0, 'bind_refused', ESME.RALYBND, true, 30_000],
    ['a bind that cannot be written', 0, 'bind_invalid', 0, false, 60_000],
    ['another refusal', 1, 'bind_refused', ESME.RSYSERR, false, 2000],
  ])('after %s', (_, failures, reason, status, wasBound, ms) => {
    expect(backOffMs(failures, reason, status, wasBound, () => 0.5)).toBe(ms)
    expect(backOffMs(failures, reason, status, wasBound, () => 0)).toBeCloseTo(ms * 0.8)
    expect(backOffMs(failures, reason, status, wasBound, () => 1)).toBeCloseTo(ms * 1.2)
  })
})

describe('the turns of lanes', () => {
  type TestLane = { id: string; type: MessageType }
  const lane = (type: MessageType, id: string): TestLane => ({ id, type })

  /** Segments per lane after some claims; `brings` gives the segments per claim. */
  function claim(lanes: readonly TestLane[], claims: number, brings: (type: MessageType) => number = () => 1) {
    const turns = new LaneTurns<TestLane>()
    const counts = new Map<string, number>(lanes.map(({ id }) => [id, 0]))
    for (let i = 0; i < claims; i++) {
      const { id, type } = turns.choose(lanes)
      const segments = brings(type)
      turns.took(lane(type, id), segments, lanes)
      counts.set(id, (counts.get(id) ?? 0) + segments)
    }
    return (id: string): number => counts.get(id) ?? 0
  }

  it('give codes what they need, and each lower type a twentieth, for claims of any size', () => {
    const lanes = [lane('marketing', 'm'), lane('transactional', 't'), lane('otp', 'o')]
    fc.assert(
      fc.property(
        fc.shuffledSubarray(lanes, { minLength: 1 }),
        fc.integer({ min: 1, max: 38 }),
        fc.integer({ min: 1, max: 4 }),
        (some, codes, others) => {
          const of = claim(some, 2000, (type) => (type === 'otp' ? codes : others))
          const all = of('o') + of('t') + of('m')
          const lower = some.filter(({ type }) => type !== 'otp')
          if (lower.length < some.length) {
            for (const { id } of lower) expect(of(id) / all).toBeGreaterThan(0.048)
            if (others === 1) expect(of('o') / all).toBeGreaterThan(0.88)
          } else if (lower.length === 2) expect(of('m') / all).toBeGreaterThan(0.048)
        },
      ),
      { numRuns: 50 },
    )
  })

  it('are equal for the lanes of one type', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 30 }), (n) => {
        const lanes = Array.from({ length: n }, (_, i) => lane('transactional', `${i}`))
        const of = claim([...lanes, lane('marketing', 'm')], n * 100)
        for (const { id } of lanes) {
          expect(of(id)).toBeGreaterThanOrEqual(94)
          expect(of(id)).toBeLessThanOrEqual(96)
        }
      }),
    )
  })

  it('are equal also for marketing lanes beside codes', () => {
    const lanes = [lane('otp', 'o'), ...Array.from({ length: 4 }, (_, i) => lane('marketing', `m${i}`))]
    const of = claim(lanes, 2000)
    for (let i = 0; i < 4; i++) expect(of(`m${i}`)).toBeGreaterThanOrEqual(20)
  })
})
