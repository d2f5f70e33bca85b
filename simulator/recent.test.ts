import fc from 'fast-check'
import { expect, it } from 'vitest'
import { RecentMap } from './recent.ts'

it('remembers at least the last of its size, and at most twice as many', () => {
  const step = fc.record({ key: fc.nat(20).map(String), isDeleted: fc.integer({ min: 0, max: 9 }).map((n) => n === 0) })
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 6 }), fc.array(step, { maxLength: 100 }), (size, steps) => {
      const map = new RecentMap<number>(size)
      // Oracle: the key set last is last. A deleted key keeps its place, so that no older one returns.
      const known = new Map<string, number | undefined>()
      for (const [value, { key, isDeleted }] of steps.entries()) {
        if (isDeleted) {
          map.delete(key)
          if (known.has(key)) known.set(key, undefined)
        } else {
          map.set(key, value)
          known.delete(key)
          known.set(key, value)
        }
        for (const [last, kept] of [...known].slice(-size)) expect([last, map.get(last)]).toEqual([last, kept])
        const all = Array.from({ length: 21 }, (_, n) => String(n)).filter((one) => map.get(one) !== undefined)
        expect(all.length).toBeLessThanOrEqual(2 * size)
        for (const one of all) expect(map.get(one)).toBe(known.get(one))
      }
    }),
    { numRuns: 1000 },
  )
})
