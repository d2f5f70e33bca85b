import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { readUserDataHeader, writeConcatenation } from './udh.ts'

const udh8 = (reference: number, total: number, part: number): object => ({ kind: 'udh8', reference, total, part })

describe('headers', () => {
  test.each([
    ['050003420201', 6, udh8(0x42, 2, 1), {}],
    ['06080412340302', 7, { kind: 'udh16', reference: 0x1234, total: 3, part: 2 }, {}],
    ['0b05040b8423f0000342020161', 12, udh8(0x42, 2, 1), {}], // after an application port
    ['0b000342020105040b8423f061', 12, udh8(0x42, 2, 1), {}], // before it
    ['08240101000342020161', 9, udh8(0x42, 2, 1), { single: 1 }],
    ['06240102250103', 7, null, { single: 2, locking: 3 }],
    ['0a0003420201000343020161', 11, udh8(0x43, 2, 1), {}], // the last of two counts
    ['050003420200', 6, null, {}], // part 0
    ['050003420203', 6, null, {}], // part above total
    ['050003420000', 6, null, {}], // of none
    ['0b0003420201080412340300', 12, udh8(0x42, 2, 1), {}], // an invalid one overrides nothing
    ['0b0804123403010003420300', 12, { kind: 'udh16', reference: 0x1234, total: 3, part: 1 }, {}],
    ['04000242020161', 5, null, {}], // an element of the wrong size
    ['06000442020101', 7, null, {}],
    ['07080512340301ff', 8, null, {}],
    ['0824020101250201ff', 9, null, {}],
    ['057103420201', 6, null, {}], // an unknown one of the same length
    ['06710412340302', 7, null, {}],
    ['03710105', 4, null, {}],
    ['0061', 1, null, {}], // empty
  ])('%s', (hex, length, concatenation, shift) => {
    expect(readUserDataHeader(Buffer.from(hex, 'hex'))).toEqual({ length, concatenation, shift })
  })

  test.each(['', '05', '0500034202', '7f000342020161', '05000442020161', '0100', '03000342'])(
    'are absent from %j, whose lengths do not add up',
    (hex) => {
      expect(readUserDataHeader(Buffer.from(hex, 'hex'))).toBeNull()
    },
  )

  it('are read back unchanged', () => {
    const part = fc.integer({ min: 1, max: 255 })
    fc.assert(
      fc.property(
        fc.constantFrom('udh8' as const, 'udh16' as const),
        fc.nat(0xffff),
        part,
        part,
        (kind, number, a, b) => {
          const reference = kind === 'udh8' ? number & 0xff : number
          const concatenation = { kind, reference, total: Math.max(a, b), part: Math.min(a, b) }
          expect(readUserDataHeader(writeConcatenation(concatenation))?.concatenation).toEqual(concatenation)
        },
      ),
    )
  })

  it('are read from garbage without failing, and never beyond it', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (octets) => {
        expect(readUserDataHeader(octets)?.length ?? 0).toBeLessThanOrEqual(octets.length)
      }),
      { numRuns: 10_000 },
    )
  })
})
