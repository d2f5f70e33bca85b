import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { codingOf, decodeText, type TextCoding } from './coding.ts'
import { packGsm7 } from './packing.ts'

describe('what data_coding means', () => {
  test.each([
    [0, 'gsm7'],
    [1, 'ascii'],
    [2, 'binary'],
    [3, 'latin1'],
    [4, 'binary'],
    [5, 'shift_jis'],
    [6, 'iso-8859-5'],
    [7, 'iso-8859-8'],
    [8, 'ucs2'],
    [9, 'binary'],
    [10, 'iso-2022-jp'],
    [0x0b, 'gsm7'],
    [13, 'shift_jis'],
    [14, 'euc-kr'],
    [0x0f, 'gsm7'],
    [0x10, 'gsm7'],
    [0x14, 'binary'],
    [0x18, 'ucs2'],
    [0x1b, 'ucs2'],
    [0x20, 'binary'],
    [0x48, 'ucs2'],
    [0x7f, 'binary'],
    [0x88, 'gsm7'],
    [0xc0, 'gsm7'],
    [0xd8, 'gsm7'],
    [0xdf, 'gsm7'],
    [0xe0, 'ucs2'],
    [0xef, 'ucs2'],
    [0xf0, 'gsm7'],
    [0xf3, 'gsm7'],
    [0xf4, 'binary'],
    [0xf5, 'binary'],
  ])('%i is %s', (data_coding, coding) => {
    expect(codingOf(data_coding)).toBe(coding)
  })

  it('is the link’s own alphabet for 0 and for class messages', () => {
    for (const data_coding of [0, 0x10, 0xf0])
      expect(codingOf(data_coding, { defaultAlphabet: 'latin1' })).toBe('latin1')
    expect(codingOf(3, { defaultAlphabet: 'ascii' })).toBe('latin1')
  })

  it('is the carrier’s own meaning if the link has one', () => {
    const options = { overrides: { 0: 'utf8', 4: 'ucs2' } } as const
    expect([0, 4, 8].map((data_coding) => codingOf(data_coding, options))).toEqual(['utf8', 'ucs2', 'ucs2'])
  })
})

describe('octets as text', () => {
  test.each<[TextCoding, string, string]>([
    ['gsm7', '48001b65', 'H@€'],
    ['gsm7-packed', 'e8329bfd06', 'hello'],
    ['ascii', '4869', 'Hi'],
    ['ascii', '48c3a9', 'Hé'],
    ['ascii', '48ff', 'H\ufffd'],
    ['latin1', '48e980', 'Hé\u0080'],
    ['latin1', '486900', 'Hi'],
    ['ucs2', '0048d83dde00', 'H😀'],
    ['ucs2', 'feff0048', 'H'],
    ['ucs2', 'fffe4800', 'H'],
    ['ucs2', 'ff210042', 'ＡB'],
    ['ucs2', '0048d83d', 'H\ufffd'],
    ['ucs2', '004800', 'H\ufffd'],
    ['ucs2', '00480000', 'H'],
    ['iso-8859-5', 'bfe0d8d2d5e2', 'Привет'],
    ['euc-kr', 'b0a1', '가'],
    ['utf8', 'e282ac', '€'],
  ])('%s %s reads %j', (coding, hex, text) => {
    expect(decodeText(Buffer.from(hex, 'hex'), coding)).toBe(text)
  })

  it('reads packed septets behind their header, and with its national tables', () => {
    const context = { udhLength: 6, shift: { locking: 1, single: 1 } }
    const octets = packGsm7(Buffer.from([0x07, 0x1b, 0x53]), 6)
    expect(decodeText(octets, 'gsm7-packed', context)).toBe('ıŞ')
  })

  it('leaves binary data unchanged', () => {
    expect(decodeText(Uint8Array.of(1, 0, 255), 'binary')).toEqual(Buffer.from([1, 0, 255]))
  })

  it('reads UCS-2 as the Encoding Standard does, also with odd octets', () => {
    const decoder = new TextDecoder('utf-16be')
    const units = fc.array(fc.constantFrom(0, 0x41, 0x0416, 0xd83d, 0xde00, 0xfeff, 0xfffe, 0xffff), { maxLength: 200 })
    fc.assert(
      fc.property(units, (codes) => {
        const octets = Buffer.from(Uint16Array.from([0x20, ...codes]).buffer).swap16()
        expect(decodeText(octets, 'ucs2')).toBe(decoder.decode(octets).replaceAll('\0', ''))
      }),
    )
  })

  it('never fails, and never yields NUL or half a surrogate pair', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), fc.nat(255), (octets, data_coding) => {
        const text = decodeText(octets, codingOf(data_coding))
        if (typeof text === 'string') expect(text.isWellFormed() && !text.includes('\0')).toBe(true)
      }),
      { numRuns: 10_000 },
    )
  })
})

describe('ASCII', () => {
  const read = (octets: string): string | Buffer => decodeText(Buffer.from(octets, 'latin1'), 'ascii')

  it('with octets outside ASCII is GSM-7, as common clients write it', () => {
    expect(read('me\x00example.com')).toBe('me@example.com')
    expect(read('\x02 5\x11')).toBe('$ 5_')
    expect(read('\x1be 5\x00')).toBe('€ 5')
  })

  it.each([
    ['[plain] $ @ _ ~', '[plain] $ @ _ ~'],
    ['lines\r\nand\ttabs', 'lines\r\nand\ttabs'],
    ['ended\x00\x00', 'ended'],
    ['\x00', ''],
    ['Gr\xc3\xbc\xc3\x9fe\x1b', 'Grüße\x1b'],
  ])('%j is read as ASCII', (octets, text) => {
    expect(read(octets)).toBe(text)
  })
})
