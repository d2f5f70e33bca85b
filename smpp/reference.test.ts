import { describe, expect, it } from 'vitest'
import { createReferences } from './reference.ts'

describe('references', () => {
  it('go up by one for a destination and repeat after 65,536', () => {
    const next = createReferences()
    const first = next('15551230001')
    expect(next('15551230001')).toBe((first + 1) & 0xffff)
    const seen = new Set([first, (first + 1) & 0xffff])
    for (let n = 2; n < 65_536; n++) seen.add(next('15551230001'))
    expect(seen.size).toBe(65_536)
    expect(next('15551230001')).toBe(first)
  })

  it('give 256 texts in a row to one destination different 8-bit numbers, whatever is sent to others', () => {
    const next = createReferences()
    const seen = new Set<number>()
    for (let n = 0; n < 256; n++) {
      seen.add(next('15551230001') & 0xff)
      next(`1555123${1000 + n}`)
    }
    expect(seen.size).toBeGreaterThan(250)
  })

  it('start anywhere', () => {
    const starts = new Set(Array.from({ length: 50 }, () => createReferences()('15551230001')))
    expect(starts.size).toBeGreaterThan(40)
  })
})
