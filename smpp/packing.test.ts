import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { decodeGsm7, encodeGsm7 } from './gsm7.ts'
import { packGsm7, unpackGsm7 } from './packing.ts'

const septets = fc.uint8Array({ max: 0x7f, maxLength: 160, size: 'max' })

test.each([
  ['hello', 0, 'e8329bfd06'],
  ['hellohello', 0, 'e8329bfd4697d9ec37'],
  ['How are you?', 0, 'c8f71d14969741f977fd07'],
  ['', 0, ''],
  // After a header of six octets one bit is free; after seven, none.
  ['A', 6, '82'],
  ['A', 7, '41'],
])('packs %j behind %i octets of header as %s', (text, udhLength, hex) => {
  expect(packGsm7(encodeGsm7(text), udhLength).toString('hex')).toBe(hex)
  expect(decodeGsm7(unpackGsm7(Buffer.from(hex, 'hex'), udhLength))).toBe(text)
})

describe('the CR that keeps seven spare bits from reading as @', () => {
  it('fills the seventh octet of seven septets, and is removed again', () => {
    const packed = packGsm7(encodeGsm7('ABCDEFG'))
    expect(packed).toHaveLength(7)
    expect((packed[6] ?? 0) >> 1).toBe(0x0d)
    expect(decodeGsm7(unpackGsm7(packed))).toBe('ABCDEFG')
  })

  it('is doubled when a text of eight septets ends in one, so that the reader still sees a CR', () => {
    expect(decodeGsm7(unpackGsm7(packGsm7(encodeGsm7('ABCDEFG\r'))))).toBe('ABCDEFG\r\r')
  })

  it('is doubled nowhere else', () => {
    for (let length = 0; length < 159; length++) {
      const text = `${'A'.repeat(length)}\r`
      expect(decodeGsm7(unpackGsm7(packGsm7(encodeGsm7(text))))).toBe(length % 8 === 7 ? `${text}\r` : text)
    }
  })

  it('never makes a segment longer than 140 octets', () => {
    expect(packGsm7(encodeGsm7(`${'A'.repeat(159)}\r`))).toHaveLength(140)
    expect(packGsm7(encodeGsm7(`${'A'.repeat(152)}\r`), 6)).toHaveLength(134)
    expect(packGsm7(encodeGsm7('A'.repeat(159)))).toHaveLength(140)
  })
})

describe('any septets', () => {
  it('return unchanged, behind headers of any length', () => {
    fc.assert(
      fc.property(septets, fc.nat(20), (input, udhLength) => {
        fc.pre(input.at(-1) !== 0x0d)
        expect([...unpackGsm7(packGsm7(input, udhLength), udhLength)]).toEqual([...input])
      }),
      { numRuns: 3000 },
    )
  })

  it('garbage unpacks without failing', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), fc.nat(300), (octets, udhLength) => {
        expect(unpackGsm7(octets, udhLength).every((septet) => septet < 0x80)).toBe(true)
      }),
      { numRuns: 3000 },
    )
  })
})
