import { describe, expect, it } from 'vitest'
import { batchRows, stepRows, Stride } from './stride.ts'

/** Memory shared with a thread that accepts messages. */
const shared = (): Int32Array => new Int32Array(new SharedArrayBuffer(4))
const strideBeside = (accepted: Int32Array): Stride => new Stride(() => Atomics.load(accepted, 0))

describe('an import', () => {
  it('takes large steps and no rest while nobody sends', async () => {
    const stride = strideBeside(shared())
    expect([stepRows, batchRows - 1, batchRows].map((rows) => stride.isWhole(rows))).toEqual([false, false, true])
    const startMs = performance.now()
    await stride.rest(10_000)
    expect(performance.now() - startMs).toBeLessThan(100)
  })

  it('takes small ones while somebody does, and rests longer than it worked, up to a limit', async () => {
    const accepted = shared()
    const stride = strideBeside(accepted)
    Atomics.add(accepted, 0, 1)
    expect([0, stepRows - 1, stepRows].map((rows) => stride.isWhole(rows))).toEqual([false, false, true])
    let startMs = performance.now()
    await stride.rest(20)
    expect(performance.now() - startMs).toBeGreaterThan(70)
    startMs = performance.now()
    await stride.rest(100_000)
    expect(performance.now() - startMs).toBeLessThan(900)
  })

  it('goes at full speed again when nobody has sent for a second', async () => {
    const accepted = shared()
    const stride = strideBeside(accepted)
    Atomics.store(accepted, 0, -7)
    expect(stride.isBesideSends).toBe(true)
    await expect.poll(() => stride.isBesideSends).toBe(false)
    expect(stride.isWhole(stepRows)).toBe(false)
  })
})
