import { describe, expect, it } from 'vitest'
import { nowMs } from './clock.ts'
import { idSql, readNearest, spanOf, within } from './span.ts'
import { firstIdAt, timeOfId } from './uuid.ts'

const dayMs = 86_400_000

describe('a span', () => {
  it('reaches from the least id to the greatest, and is null without ids', () => {
    const ids = [5, 3, 9, 4].map((day) => firstIdAt(day * dayMs))
    const span = spanOf(ids)
    expect(span).toEqual({ first: firstIdAt(3 * dayMs), last: firstIdAt(9 * dayMs) })
    expect(within(span)).toBe(`between '${span.first}'::uuid and '${span.last}'::uuid`)
    expect(() => spanOf([])).toThrow(RangeError)
  })

  it('lets only ids into the text of a statement', () => {
    for (const id of ['', `x' or true --`, `${firstIdAt(0)}'`, `${firstIdAt(0)}\n`, firstIdAt(0).slice(1)])
      expect(() => idSql(id)).toThrow(RangeError)
  })
})

describe('the nearest rows', () => {
  const daysOf = async (from: string | null, isUpward: boolean, enoughAt: number): Promise<(number | null)[]> => {
    const days: (number | null)[] = []
    const at = from === null ? nowMs() : timeOfId(from)
    await readNearest(
      { from, isUpward },
      async (bound) => {
        days.push(bound === null ? null : Math.round((timeOfId(bound) - at) / dayMs))
        return [days.length]
      },
      ([read]) => read === enoughAt,
    )
    return days
  }

  it('are searched in two days, then in thirty, then in all, until there are enough', async () => {
    expect(await daysOf(null, false, 1)).toEqual([-2])
    expect(await daysOf(firstIdAt(100 * dayMs), false, 2)).toEqual([-2, -30])
    expect(await daysOf(firstIdAt(100 * dayMs), true, 4)).toEqual([2, 30, null])
  })
})
