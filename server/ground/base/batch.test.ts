import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Batcher } from './batch.ts'

describe('a batcher', () => {
  it('answers each item with its own result', async () => {
    const batcher = new Batcher(async (items: number[]) => items.map((n) => n * 2), {
      sizeMax: 10,
      flushesMax: 1,
      isForAll,
    })
    expect(await Promise.all([1, 2, 3].map((n) => batcher.push(n)))).toEqual([2, 4, 6])
  })

  it('writes together what arrives in one turn, and what arrives during a flush', async () => {
    const { flushes, flush, open } = gate()
    const batcher = new Batcher(flush, { sizeMax: 100, flushesMax: 1, isForAll })
    const results = [batcher.push(1), batcher.push(2)]
    await nextTurn()
    results.push(batcher.push(3), batcher.push(4))
    await nextTurn()
    expect([flushes, batcher.length]).toEqual([[[1, 2]], 2])
    open()
    await results[0]
    await nextTurn()
    open()
    expect(await Promise.all(results)).toEqual([10, 20, 30, 40])
    expect(flushes).toEqual([
      [1, 2],
      [3, 4],
    ])
  })

  it('keeps its limits of size and flushes', async () => {
    const { flushes, flush, open } = gate()
    const batcher = new Batcher(flush, { sizeMax: 2, flushesMax: 2, isForAll })
    const results = [1, 2, 3, 4, 5].map((n) => batcher.push(n))
    await nextTurn()
    await nextTurn()
    expect([flushes, batcher.length]).toEqual([
      [
        [1, 2],
        [3, 4],
      ],
      1,
    ])
    for (let i = 0; i < 3; i++) {
      open()
      await nextTurn()
      await nextTurn()
    }
    expect(await Promise.all(results)).toEqual([10, 20, 30, 40, 50])
  })

  it('fails only the faulty item', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.boolean(), { minLength: 1, maxLength: 60 }), async (bad) => {
        const written: number[] = []
        const batcher = new Batcher(
          async (items: number[]) => {
            if (items.some((n) => bad[n])) throw new Error('bad item')
            written.push(...items)
            return items
          },
          { sizeMax: 16, flushesMax: 1, isForAll },
        )
        const results = await Promise.allSettled(bad.map((_, n) => batcher.push(n)))
        expect(results.map((result) => result.status === 'rejected')).toEqual(bad)
        expect(written.sort((a, b) => a - b)).toEqual(bad.flatMap((isBad, n) => (isBad ? [] : [n])))
      }),
      { numRuns: 50 },
    )
  })

  it('fails all at once if the failure concerns all', async () => {
    let flushes = 0
    const batcher = new Batcher(
      async (): Promise<number[]> => {
        flushes++
        throw new Away()
      },
      { sizeMax: 100, flushesMax: 1, isForAll },
    )
    const results = await Promise.allSettled([1, 2, 3, 4].map((n) => batcher.push(n)))
    expect([flushes, results.map((result) => result.status)]).toEqual([
      1,
      ['rejected', 'rejected', 'rejected', 'rejected'],
    ])
    await expect(batcher.push(5)).rejects.toThrow(Away)
  })

  it('counts a flush with too few results as a failure', async () => {
    const batcher = new Batcher(async () => [] as number[], { sizeMax: 10, flushesMax: 1, isForAll })
    await expect(batcher.push(1)).rejects.toThrow('answered 0 of 1')
  })

  it('that rests gathers for as long as the last flush took, but not after it was idle', async () => {
    const flushes: number[][] = []
    const flush = async (items: number[]): Promise<number[]> => {
      flushes.push(items)
      await new Promise((resolve) => setTimeout(resolve, 15))
      return items
    }
    const batcher = new Batcher(flush, { sizeMax: 100, flushesMax: 1, rests: true, isForAll })
    await batcher.push(1)
    const results = [batcher.push(2)]
    await nextTurn()
    await nextTurn()
    results.push(batcher.push(3))
    await Promise.all(results)
    expect(flushes).toEqual([[1], [2, 3]])
  })

  it('that gathers takes what consecutive turns of the loop bring, and starts at the first empty turn', async () => {
    const { flush, flushes } = recorder()
    const batcher = new Batcher(flush, { sizeMax: 100, flushesMax: 1, gathers: true, isForAll })
    const pushed = [batcher.push(0)]
    for (let n = 1; n < 5; n++) {
      pushed.push(batcher.push(n))
      await nextTurn()
    }
    expect(flushes).toEqual([])
    await nextTurn()
    expect(flushes).toEqual([[0, 1, 2, 3, 4]])
    await Promise.all(pushed)
    // A single item does not wait.
    await batcher.push(5)
    expect(flushes).toEqual([[0, 1, 2, 3, 4], [5]])
  })

  it('that gathers starts for a full batch, and when the first item has waited some milliseconds', async () => {
    const { flush, flushes } = recorder()
    const batcher = new Batcher(flush, { sizeMax: 3, flushesMax: 1, gathers: true, isForAll })
    await Promise.all([1, 2, 3, 4].map((n) => batcher.push(n)))
    expect(flushes).toEqual([[1, 2, 3], [4]])
    const slow = new Batcher(flush, { sizeMax: 1e6, flushesMax: 1, gathers: true, isForAll })
    let pushed = 0
    // Each turn adds an item, and the batch is never full.
    while (flushes.length < 3 && pushed < 500_000) {
      void slow.push(pushed++)
      await nextTurn()
    }
    expect(flushes.length).toBe(3)
  })

  it('that lingers also takes what arrives a little later', async () => {
    const { flush, flushes } = recorder()
    const batcher = new Batcher(flush, { sizeMax: 100, flushesMax: 1, lingerMs: 200, isForAll })
    const pushed: Promise<number>[] = []
    for (let n = 0; n < 5; n++) {
      pushed.push(batcher.push(n))
      await nextTurn()
    }
    expect(await Promise.all(pushed)).toEqual([0, 1, 2, 3, 4])
    expect(flushes).toEqual([[0, 1, 2, 3, 4]])
  })

  it('that rests does not rest on a full batch', async () => {
    const flushes: number[][] = []
    const flush = async (items: number[]): Promise<number[]> => {
      flushes.push(items)
      await new Promise((resolve) => setTimeout(resolve, 15))
      return items
    }
    const batcher = new Batcher(flush, { sizeMax: 2, flushesMax: 1, rests: true, isForAll })
    await batcher.push(1)
    const results = [batcher.push(2), batcher.push(3)]
    await nextTurn()
    await nextTurn()
    expect(flushes).toEqual([[1], [2, 3]])
    await Promise.all(results)
  })

  it('drains', async () => {
    const { flush, open } = gate()
    const batcher = new Batcher(flush, { sizeMax: 1, flushesMax: 1, isForAll })
    const results = [batcher.push(1), batcher.push(2)]
    let isDrained = false
    const drained = batcher.drain().then(() => (isDrained = true))
    await nextTurn()
    open()
    await results[0]
    await nextTurn()
    await nextTurn()
    expect(isDrained).toBe(false)
    open()
    await drained
    expect(await Promise.all(results)).toEqual([10, 20])
  })

  it('takes each owner’s items in turns if more wait than one flush writes', async () => {
    const { flushes, flush, open } = gate()
    const batcher = new Batcher(flush, { sizeMax: 4, flushesMax: 1, isForAll, ownerOf: (n) => String(n < 100) })
    const all = [1, 2, 3, 4, 5, 6, 101].map((n) => batcher.push(n))
    for (let n = 0; n < 2; n++) open()
    await Promise.all(all)
    expect(flushes).toEqual([
      [1, 101, 2, 3],
      [4, 5, 6],
    ])
  })

  it('writes as many items together as the first of them allows', async () => {
    const { flushes, flush } = recorder()
    const batcher = new Batcher(flush, { sizeMax: (first) => (first === 1 ? 1 : 3), flushesMax: 1, isForAll })
    await Promise.all([1, 2, 3, 4].map((n) => batcher.push(n)))
    expect(flushes).toEqual([[1], [2, 3, 4]])
  })

  it('measures no flush while it waits for a turn', async () => {
    const { flushes, flush } = recorder()
    let begin = (): void => {}
    const inTurn = async (_: number[], one: () => Promise<void>): Promise<void> => {
      await new Promise<void>((resolve) => {
        begin = resolve
      })
      await one()
    }
    const batcher = new Batcher(flush, { sizeMax: 10, flushesMax: 1, isForAll, inTurn })
    const written = batcher.push(1)
    await new Promise((resolve) => setTimeout(resolve, 10))
    expect([flushes, batcher.flushingMs]).toEqual([[], 0])
    begin()
    await written
    expect(flushes).toEqual([[1]])
  })
})

class Away extends Error {}
const isForAll = (error: unknown): boolean => error instanceof Away
const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** Flushes that run until released, one by one. */
function gate(): { flushes: number[][]; flush: (items: number[]) => Promise<number[]>; open: () => void } {
  const flushes: number[][] = []
  const waiting: (() => void)[] = []
  let permits = 0
  return {
    flushes,
    flush: async (items) => {
      flushes.push(items)
      if (permits > 0) permits--
      else await new Promise<void>((resolve) => waiting.push(resolve))
      return items.map((item) => item * 10)
    },
    open: () => {
      const next = waiting.shift()
      if (next) next()
      else permits++
    },
  }
}

/** Flushes that complete at once. */
function recorder(): { flushes: number[][]; flush: (items: number[]) => Promise<number[]> } {
  const flushes: number[][] = []
  return {
    flushes,
    flush: (items) => {
      flushes.push(items)
      return Promise.resolve(items)
    },
  }
}
