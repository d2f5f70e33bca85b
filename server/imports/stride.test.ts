import { describe, expect, it } from 'vitest'
import { batchRows, stepRows, Stride } from './stride.ts'

describe('an import', () => {
  it('takes large steps without rest while no messages are sent', async () => {
    const stride = strideBeside(shared())
    expect([stepRows, batchRows - 1, batchRows].map((rows) => stride.isWhole(rows))).toEqual([false, false, true])
    const startMs = performance.now()
    await stride.rest(10_000)
    expect(performance.now() - startMs).toBeLessThan(100)
  })

  it('takes small steps while messages are sent, and rests longer than it works, up to a limit', async () => {
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

  it('returns to full speed after a second without sends', async () => {
    const accepted = shared()
    const stride = strideBeside(accepted)
    Atomics.store(accepted, 0, -7)
    expect(stride.isBesideSends).toBe(true)
    await expect.poll(() => stride.isBesideSends).toBe(false)
    expect(stride.isWhole(stepRows)).toBe(false)
  })
})

/** Memory shared with a thread that accepts messages. */
const shared = (): Int32Array => new Int32Array(new SharedArrayBuffer(4))
const strideBeside = (accepted: Int32Array): Stride => new Stride(() => Atomics.load(accepted, 0))
