import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { gsm7Length, septetsOf } from './alphabet.ts'
import { decodeGsm7, encodeGsm7 } from './gsm7.ts'

const BASIC =
  '@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !"#¤%&\'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà'
const EXTENDED = '\f^{}\\[~]|€'

const gsm7Text = fc.string({ unit: fc.constantFrom(...(BASIC + EXTENDED).split('')), maxLength: 400, size: 'max' })

test.each([
  ['', ''],
  ['@', '00'],
  ['£', '01'],
  ['Ç', '09'],
  ['Δ', '10'],
  ['_', '11'],
  ['É', '1f'],
  [' ', '20'],
  ['¤', '24'],
  ['¡', '40'],
  ['Ä', '5b'],
  ['§', '5f'],
  ['¿', '60'],
  ['à', '7f'],
  ['\f', '1b0a'],
  ['^', '1b14'],
  ['{', '1b28'],
  ['}', '1b29'],
  ['\\', '1b2f'],
  ['[', '1b3c'],
  ['~', '1b3d'],
  [']', '1b3e'],
  ['|', '1b40'],
  ['€', '1b65'],
  ['Hello {you}', '48656c6c6f201b28796f751b29'],
])('%j is %s, both ways', (text, hex) => {
  expect(encodeGsm7(text).toString('hex')).toBe(hex)
  expect(decodeGsm7(Buffer.from(hex, 'hex'))).toBe(text)
  expect(gsm7Length(text)).toBe(hex.length / 2)
})

describe('the alphabet', () => {
  it('has 127 characters of one septet and 10 of two', () => {
    const costs = Array.from({ length: 0x10000 }, (_, unit) => septetsOf(unit))
    expect(costs.filter((cost) => cost === 1)).toHaveLength(127)
    expect(costs.filter((cost) => cost === 2)).toHaveLength(10)
  })

  test.each(['`', 'ç', '’', '\t', '\u001b', '\0', 'Α', 'ő', '😀', '\ud83d', 'e\u0301'])('%j is outside', (text) => {
    expect(gsm7Length(`a${text}`)).toBe(-1)
    expect(() => encodeGsm7(text)).toThrow(RangeError)
  })
})

describe('octets that no encoder writes', () => {
  test.each([
    ['1b41', 'A', 'an escape without a meaning shows the main table'],
    ['1b1b', ' ', 'a second escape is reserved and shows a space'],
    ['411b', 'A ', 'an escape at the end shows a space'],
    ['4180ff', 'A\ufffd\ufffd', 'no septet'],
    ['1b80', '\ufffd', 'no septet behind an escape'],
    ['4100', 'A@', 'a trailing NUL is @'],
  ])('%s reads %j: %s', (hex, text) => {
    expect(decodeGsm7(Buffer.from(hex, 'hex'))).toBe(text)
  })
})

it('reads no further than its view of a buffer', () => {
  expect(decodeGsm7(Uint8Array.from([0x41, 0x42, 0x43, 0x44]).subarray(1, 3))).toBe('BC')
})

describe('national shift tables', () => {
  test.each([
    [{ single: 1 }, '1b471b491b531b631b671b691b731b65', 'ĞİŞçğış€'],
    [{ single: 2 }, '1b091b411b491b4f1b551b611b691b6f1b75', 'çÁÍÓÚáíóú'],
    [{ single: 3 }, '1b051b091b0b1b0c1b0e1b0f1b121b131b141b151b1f', 'êçÔôÁáΦΓ^ΩÊ'],
    [{ single: 3 }, '1b411b491b4f1b551b5b1b5c1b611b651b691b6f1b751b7b1b7c1b7f', 'ÀÍÓÚÃÕÂ€íóúãõâ'],
    [{ locking: 1 }, '04070b0c1c1d40601b3c', '€ıĞğŞşİç['],
    [{ locking: 1 }, '415a617a7f', 'AZazà'],
    [{ locking: 3 }, '415a617a7f', 'AZazà'],
    [
      { locking: 3 },
      '0406070809 12131415161718191a1c1d 5b5c 5f 7b7c 7f'.replaceAll(' ', ''),
      'êúíóçªÇÀ∞^\\€Ó|ÂâÃÕ§ãõà',
    ],
    [{ locking: 1, single: 1 }, '1b63', 'ç'],
    [{ locking: 99, single: 99 }, '001b65', '@€'],
  ])('%j: %s reads %j', (shift, hex, text) => {
    expect(decodeGsm7(Buffer.from(hex, 'hex'), shift)).toBe(text)
  })
})

describe('any text, any octets', () => {
  it('reads back its own output', () => {
    fc.assert(
      fc.property(gsm7Text, (text) => {
        const octets = encodeGsm7(text)
        expect(octets).toHaveLength(gsm7Length(text))
        expect(decodeGsm7(octets)).toBe(text)
      }),
      { numRuns: 2000 },
    )
  })

  it('reads garbage without failing', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.nat(4), fc.nat(4), (octets, locking, single) => {
        expect(decodeGsm7(octets, { locking, single }).length).toBeLessThanOrEqual(octets.length)
      }),
      { numRuns: 5000 },
    )
  })
})
