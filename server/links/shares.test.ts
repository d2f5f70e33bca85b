import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { capacityOf } from './pace.ts'
import { chooseSlots, nextGrant, splitUnits, type Grant, type Slot } from './shares.ts'

const names = ['a', 'b', 'c', 'd']

describe('a split', () => {
  it('adds up to the whole, and is fair to a unit', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 10_001 }),
        fc.array(fc.integer({ min: 0, max: 50 }), { minLength: 1, maxLength: 4 }),
        (units, weights) => {
          const parts = splitUnits(
            units,
            weights.map((weight, i) => ({ nodeId: names[i] ?? '', weight })),
          )
          const total = sum(weights)
          expect(sum(parts.values())).toBe(total === 0 ? 0 : units)
          weights.forEach((weight, i) => {
            const part = parts.get(names[i] ?? '') ?? -1
            if (total === 0 || weight === 0) expect(part).toBe(0)
            else expect(Math.abs(part - (units * weight) / total)).toBeLessThan(1)
          })
        },
      ),
    )
  })

  it('of a pace leaves nobody at zero if there is enough for all', () => {
    const holders = names.map((nodeId) => ({ nodeId, weight: 1 }))
    expect([...splitUnits(capacityOf(100), holders).values()]).toEqual([26, 25, 25, 25])
    expect([...splitUnits(capacityOf(1), holders).values()]).toEqual([1, 1, 0, 0])
  })
})

/** The slots of a link after some turns of processes. */
function settle(sessions: number, nodes: readonly string[], slots: Slot[], turns: number): Slot[] {
  for (let turn = 0; turn < turns; turn++)
    for (const me of nodes) {
      const { take, give } = chooseSlots(slots, me, sessions, nodes.length)
      for (const slot of take) expect(slots.find((one) => one.slot === slot)?.nodeId ?? null).toBeNull()
      slots = slots.filter(({ slot }) => !take.includes(slot) && !give.includes(slot))
      slots.push(...take.map((slot) => ({ slot, nodeId: me })))
    }
  return slots
}

describe('slots', () => {
  it('are all held, in equal parts, as processes come and go', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 50 }),
        fc.array(fc.subarray(names, { minLength: 1 }), { minLength: 1, maxLength: 5 }),
        (sessions, generations) => {
          let slots: Slot[] = []
          for (const nodes of generations) {
            slots = slots.filter(({ nodeId }) => nodeId !== null && nodes.includes(nodeId))
            slots = settle(sessions, nodes, slots, 5)
            const held = nodes.map((node) => slots.filter(({ nodeId }) => nodeId === node).length)
            expect(sum(held)).toBe(sessions)
            expect(Math.max(...held)).toBeLessThanOrEqual(Math.ceil(sessions / nodes.length))
          }
        },
      ),
    )
  })

  it('above the number of sessions are released', () => {
    const slots = [1, 2, 3].map((slot) => ({ slot, nodeId: 'a' }))
    expect(chooseSlots(slots, 'a', 1, 1)).toEqual({ take: [], give: [2, 3] })
  })
})

it('the used parts of a pace never exceed the whole, whatever processes want and when', () => {
  const turn = fc.record({ who: fc.integer({ min: 0, max: 3 }), target: fc.integer({ min: 0, max: 101 }) })
  fc.assert(
    fc.property(fc.array(fc.tuple(turn, fc.integer({ min: 1, max: 900 })), { maxLength: 60 }), (turns) => {
      const units = 101
      const grants: Grant[] = names.map(() => ({ used: 0, written: 0, loweredAt: -Infinity }))
      /** Recent use by process: it counts for a second. */
      const recent: { at: number; who: number; used: number }[] = []
      let now = 0
      for (const [{ who, target }, ms] of turns) {
        now += ms
        const others = sum(grants.filter((_, i) => i !== who).map((grant) => grant.written))
        const before = grants[who]
        if (!before) continue
        recent.push({ at: now, who, used: before.used })
        grants[who] = nextGrant(before, target, units, others, now)
        expect(sum(grants.map((grant) => grant.written))).toBeLessThanOrEqual(units)
        const most = names.map((_, i) =>
          Math.max(
            grants[i]?.used ?? 0,
            ...recent.filter((one) => one.who === i && one.at > now - 1000).map((one) => one.used),
          ),
        )
        expect(sum(most)).toBeLessThanOrEqual(units)
      }
    }),
  )
})

const sum = (numbers: Iterable<number>): number => [...numbers].reduce((total, one) => total + one, 0)
