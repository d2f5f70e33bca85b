import { describe, expect, it } from 'vitest'
import { countryOf } from '../numbers/number.ts'
import { Meter, recentOf } from './meter.ts'

const accountId = '01a1fbf3-0000-7000-8000-000000000001'
const message = { accountId, carrierId: 'carrier', ourNumber: '15557654321', theirNumber: '447400123456', sentAt: null }

describe('a meter', () => {
  it('counts submits by outcome, and times only answered ones', () => {
    const meter = new Meter(countryOf)
    const note = meter.linkObserver('link', 'carrier')
    note('14155550100', { state: 'accepted' }, 5)
    note('447400123456', { state: 'refused', reason: { handling: 'permanent' } }, 7)
    note('447400123456', { state: 'refused', reason: { handling: 'throttling' } }, 9)
    note('447400123456', { state: 'unknown', reason: 'no answer' }, 60_000)
    note('447400123456', { state: 'released' }, 1e9)
    const link = meter.links.get('link')
    expect(Object.fromEntries(link?.answers.entries() ?? [])).toEqual({
      accepted: 1,
      refused: 1,
      throttled: 1,
      unknown: 1,
    })
    const recent = link && recentOf(meter, link.responses)
    expect(Object.keys(recent ?? {}).sort()).toEqual(['GB', 'US'])
    expect(recent?.['GB']?.filter((_, i) => i % 2 === 1)).toEqual([1, 1])
  })

  it('continues counting when a link is recreated', () => {
    const meter = new Meter(countryOf)
    for (let n = 0; n < 2; n++) meter.linkObserver('link', 'carrier')('14155550100', { state: 'accepted' }, 1)
    expect(meter.links.get('link')?.answers.get('accepted')).toBe(2)
  })

  it('separates two dozen countries of a link, and joins the rest', () => {
    const meter = new Meter((number) => number.slice(0, 2))
    const note = meter.linkObserver('link', 'carrier')
    for (let n = 10; n < 60; n++) note(`${n}00000000`, { state: 'accepted' }, 1)
    const link = meter.links.get('link')
    const recent = link ? recentOf(meter, link.responses) : {}
    expect(Object.keys(recent)).toHaveLength(25)
    expect(recent['other']?.[1]).toBe(26)
  })

  it('derives a number’s country as the numbering plans do, whatever was asked before', () => {
    const meter = new Meter(countryOf)
    for (let n = 0; n < 20_000; n++) {
      const number = `${['1415', '1416', '44740', '4917', '3361', '35191', '7701', '7916'][n % 8]}${2_000_000 + n * 397}`
      expect(meter.countryName(meter.countryIndex(number))).toBe(countryOf(number) ?? 'other')
    }
  })

  it('times receipts by carrier, and counts each sender’s outcomes until it is read', () => {
    const meter = new Meter(countryOf)
    const now = Date.now()
    meter.noteEnd({ ...message, sentAt: new Date(now - 1500) }, 'delivered', now)
    meter.noteEnd({ ...message, sentAt: new Date(now - 1500) }, 'undelivered', now)
    meter.noteEnd(message, 'rejected', now)
    meter.noteEnd(message, 'canceled', now)
    meter.noteEnd(message, 'sent', now)
    expect(meter.ends.get('delivered')).toBe(1)
    expect(meter.ends.get('canceled')).toBe(1)
    const times = meter.receiptTimes.get('carrier')
    expect(times && recentOf(meter, times)).toMatchObject({ GB: [expect.any(Number), 2] })
    expect(meter.takeSenders()).toEqual([{ accountId, number: '15557654321', delivered: 1, failed: 2 }])
    expect(meter.takeSenders()).toEqual([])
  })

  it('drops recent values after two periods', () => {
    const meter = new Meter(countryOf)
    meter.linkObserver('link', 'carrier')('14155550100', { state: 'accepted' }, 1)
    const responses = meter.links.get('link')?.responses
    if (!responses) throw new Error('the link is not there')
    const minutes = (n: number): number => performance.now() + n * 60_000
    meter.turn(minutes(5.5))
    expect(recentOf(meter, responses)).toHaveProperty('US')
    meter.turn(minutes(11))
    expect(recentOf(meter, responses)).toEqual({})
  })

  it('reports links and carriers that follow many deleted ones, and again a quiet one, with all its counts', () => {
    const meter = new Meter(countryOf)
    const ends = (carrierId: string): void => {
      const now = Date.now()
      meter.noteEnd({ ...message, carrierId, sentAt: new Date(now) }, 'delivered', now)
    }
    const notes = Array.from({ length: 200 }, (_, n) => meter.linkObserver(`link ${n}`, `carrier ${n}`))
    for (const [n, note] of notes.entries()) {
      note('14155550100', { state: 'accepted' }, 1)
      ends(`carrier ${n}`)
    }
    const note = meter.linkObserver('new link', 'new carrier')
    const observe = (): void => {
      note('14155550100', { state: 'accepted' }, 1)
      ends('new carrier')
    }
    observe()
    expect([meter.links.has('new link'), meter.receiptTimes.has('new carrier')]).toEqual([false, false])
    const start = performance.now()
    for (const minutes of [5.5, 11]) {
      notes[7]?.('14155550100', { state: 'accepted' }, 1)
      meter.turn(start + minutes * 60_000)
    }
    observe()
    expect([...meter.links.keys()]).toEqual(['link 7', 'new link'])
    expect([...meter.receiptTimes.keys()]).toEqual(['new carrier'])
    // It counted although it was not listed.
    expect(meter.links.get('new link')?.answers.get('accepted')).toBe(2)
    notes[8]?.('14155550100', { state: 'accepted' }, 1)
    expect(meter.links.get('link 8')?.answers.get('accepted')).toBe(2)
  })
})
