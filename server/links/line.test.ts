import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { MessageType } from '../message/message.ts'
import type { Limit } from './limits.ts'
import { Line, type Waiting } from './line.ts'
import { Pace } from './pace.ts'

describe('a link’s queue', () => {
  it('sends codes first, and each type in order of arrival', () => {
    const line = new Line<Item>(new Pace(1000))
    for (const [type, name] of [
      ['marketing', 'm1'],
      ['transactional', 't1'],
      ['otp', 'o1'],
      ['transactional', 't2'],
    ] as const)
      line.add(item(type, name))
    const order: string[] = []
    for (let now = 0; line.length > 0; now += 1) order.push(...write(line, now).map((one) => one.name))
    expect(order).toEqual(['o1', 't1', 't2', 'm1'])
  })

  it('keeps a twentieth for each lower type beside a flood of codes', () => {
    const line = new Line<Item>(new Pace(100))
    const counts = { otp: 0, transactional: 0, marketing: 0 }
    for (let now = 0; now < 60_000; now += 5) {
      for (const type of ['otp', 'transactional', 'marketing'] as const)
        while (line.room(type, 1000, now) > 0) line.add(item(type))
      for (const { type } of write(line, now)) counts[type]++
    }
    const all = counts.otp + counts.transactional + counts.marketing
    expect(Math.abs(all - 6000)).toBeLessThanOrEqual(60)
    expect(counts.marketing / all).toBeGreaterThanOrEqual(0.049)
    expect(counts.marketing / all).toBeLessThan(0.06)
    expect(counts.transactional / all).toBeGreaterThanOrEqual(0.049)
  })

  it('keeps it even if claims take as long as twenty codes, and if a type with credit cannot be sent', () => {
    const line = new Line<Item>(new Pace(100))
    const coming: { at: number; item: Item }[] = []
    const counts = { otp: 0, transactional: 0, marketing: 0 }
    const stuck = [limit(0)]
    line.add(item('marketing', 'stuck', 1, stuck))
    for (let now = 0; now < 60_000; now += 5) {
      for (const { item: one } of coming.filter(({ at }) => at <= now)) line.add(one)
      coming.splice(0, coming.length, ...coming.filter(({ at }) => at > now))
      for (const type of ['otp', 'transactional'] as const) {
        const asked = coming.filter(({ item: one }) => one.type === type).length
        for (let n = line.room(type, 1000, now) - asked; n > 0; n--) coming.push({ at: now + 200, item: item(type) })
      }
      for (const { type } of write(line, now)) counts[type]++
    }
    const all = counts.otp + counts.transactional
    expect(all).toBeGreaterThan(5900)
    expect(counts.transactional / all).toBeGreaterThanOrEqual(0.049)
    expect(counts.transactional / all).toBeLessThan(0.06)
  })

  it('gives no credit for a time without waiting messages', () => {
    const line = new Line<Item>(new Pace(1000))
    for (let now = 0; now < 1000; now++) {
      line.add(item('otp'))
      write(line, now)
    }
    for (let i = 0; i < 5; i++) line.add(item('marketing', 'm'))
    for (let i = 0; i < 5; i++) line.add(item('otp', 'o'))
    const order: string[] = []
    for (let now = 1100; line.length > 0; now++) order.push(...write(line, now).map((one) => one.name))
    expect(order.slice(0, 5)).toEqual(['o', 'o', 'o', 'o', 'o'])
  })

  it('has room for codes whatever else waits, and for others as the pace and the messages before them allow', () => {
    const line = new Line<Item>(new Pace(100))
    expect([line.room('otp', 1000, 0), line.room('marketing', 10, 0), line.room('otp', 0, 0)]).toEqual([25, 10, 0])
    for (let i = 0; i < 25; i++) line.add(item('marketing'))
    expect([line.room('otp', 1000, 0), line.room('transactional', 1000, 0), line.room('marketing', 1000, 0)]).toEqual([
      25, 25, -22,
    ])
    for (let i = 0; i < 25; i++) line.add(item('otp'))
    // A tenth of the place: its twentieth, and as much again until a claim brings the next.
    expect([line.room('otp', 1000, 0), line.room('transactional', 1000, 0)]).toEqual([0, 3])
  })

  it('keeps messages under a limit waiting beside the others', () => {
    const line = new Line<Item>(new Pace(1000))
    const slow = [limit(1)]
    for (let i = 0; i < 3; i++) line.add(item('otp', 'slow', 1, slow))
    for (let i = 0; i < 30; i++) line.add(item('marketing', 'fast'))
    const sent: string[] = []
    for (let now = 0; now < 2500; now += 1)
      sent.push(...write(line, now).map((one) => `${one.name} ${Math.round(now / 1000)}`))
    expect(sent.filter((one) => one.startsWith('slow'))).toEqual(['slow 0', 'slow 1', 'slow 2'])
    expect(sent.filter((one) => one === 'fast 0')).toHaveLength(30)
    expect(slow[0]?.waiting).toBe(0)
  })

  it('says when it may continue', () => {
    const line = new Line<Item>(new Pace(10))
    expect(line.wait(0)).toBe(Infinity)
    line.add(item('otp', '', 1, [limit(1)]))
    expect(line.wait(0)).toBe(0)
    write(line, 0)
    line.add(item('otp'))
    expect(line.wait(0)).toBe(100)
  })

  it('returns what waits for a pace of which this process has no part, and nothing else', () => {
    const [none, some] = [[limit(0)], [limit(5)]]
    const line = new Line<Item>(new Pace(100))
    for (const [name, limits] of [
      ['a', none],
      ['b', some],
      ['c', []],
    ] as const)
      line.add(item('otp', name, 2, limits))
    expect(line.drain((one) => line.isPartless(one)).map((one) => one.name)).toEqual(['a'])
    expect([line.length, none[0]?.waiting, some[0]?.waiting]).toEqual([4, 0, 2])
    line.pace.set(0, 0)
    expect(line.drain((one) => line.isPartless(one)).map((one) => one.name)).toEqual(['c', 'b'])
  })

  it('counts waiting messages through additions, writes, deletions and claims', () => {
    const step = fc.record({
      do: fc.constantFrom('add', 'write', 'forget', 'drain'),
      type: fc.constantFrom<MessageType>('otp', 'transactional', 'marketing'),
      left: fc.integer({ min: 1, max: 5 }),
      isLimited: fc.boolean(),
    })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 100 }), (steps) => {
        const limits = [limit(5)]
        const line = new Line<Item>(new Pace(50))
        const waiting = new Set<Item>()
        steps.forEach((one, now) => {
          if (one.do === 'add') {
            const added = item(one.type, '', one.left, one.isLimited ? limits : [])
            waiting.add(added)
            line.add(added)
          } else if (one.do === 'write') for (const written of write(line, now * 100)) waiting.delete(written)
          else if (one.do === 'forget') {
            const next = line.next(now * 100)
            if (!next) return
            line.forget(next)
            waiting.delete(next)
          } else {
            expect(new Set(line.drain())).toEqual(waiting)
            waiting.clear()
          }
          const left = [...waiting].reduce((sum, { left: segments }) => sum + segments, 0)
          expect(line.length).toBe(left)
          const limited = [...waiting].filter((waits) => waits.limits.length > 0)
          expect(limits[0]?.waiting).toBe(limited.reduce((sum, { left: segments }) => sum + segments, 0))
        })
      }),
    )
  })
})

interface Item extends Waiting {
  name: string
}
const item = (type: MessageType, name = '', left = 1, limits: readonly Limit[] = []): Item => ({
  type,
  limits,
  left,
  name,
})
const limit = (rate: number): Limit => ({ pace: new Pace(rate), waiting: 0 })

/** Writes the messages that may go now, each whole. */
function write(line: Line<Item>, now: number): Item[] {
  const written: Item[] = []
  while (line.pace.isDue(now)) {
    const next = line.next(now)
    if (!next) break
    line.wrote(next, now, next.left)
    written.push(next)
  }
  return written
}
