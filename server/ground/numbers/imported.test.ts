import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readImportedNumber } from './imported.ts'

describe('a cell with a number', () => {
  it('is read in any script', () => {
    for (const blank of ['\u00a0', '\u202f', '\u2009', '\u3000', '\u2007'])
      expect(read(`+33${blank}6${blank}39 98 00${blank}21`)).toMatchObject({ number: '33639980021' })
    for (const zero of [0x660, 0x6f0, 0x966, 0x9e6, 0xe50, 0xff10, 0x1d7ce, 0x1e950]) {
      const digits = Array.from('33639980021', (digit) => String.fromCodePoint(zero + Number(digit))).join('')
      expect(read(digits), zero.toString(16)).toMatchObject({ number: '33639980021' })
      expect(read(`＋${digits}`), zero.toString(16)).toMatchObject({ number: '33639980021' })
    }
    for (const text of ['+49\u202f(0)171\u202f3920061', '(+49) 171 3920061', '[+49]1713920061', "'( +49)171/3920061"])
      expect(read(text), text).toMatchObject({ number: '491713920061' })
  })

  it('is read with the number’s country, in national form and with its own code', () => {
    expect(read('07700 900111', 'GB')).toMatchObject({ number: '447700900111' })
    expect(read('447700900111', 'GB')).toMatchObject({ number: '447700900111' })
    expect(read('7700900111', 'GB')).toMatchObject({ number: '447700900111' })
    expect(read('06 39 98 00 11', 'FR')).toMatchObject({ number: '33639980011' })
    expect(read('33639980011', 'FR')).toMatchObject({ number: '33639980011' })
    expect(read('0171 3920052', 'DE')).toMatchObject({ number: '491713920052' })
    expect(read('491713920052', 'DE')).toMatchObject({ number: '491713920052' })
    expect(read('447700900111', 'FR')).toMatchObject({ number: '447700900111' })
  })

  it('gives the first of several numbers, and reports the others', () => {
    const two = { number: '491713920073', repair: 'several_numbers', others: ['491713920074'] }
    for (const between of [' / ', '/', ' ::: ', ', ', '; ', ' | ', ' & ', '\n', ' or ', ' oder ', ' ', ''])
      expect(read(`+49 171 3920073${between}+49 171 3920074`), between).toMatchObject(two)
    for (const between of [' / ', '/', ' ::: ', ', ', ' und ', ' '])
      expect(read(`0171 3920073${between}0171 3920074`, 'DE'), between).toMatchObject(two)
    expect(read('+1 555-123-1401 ::: +1 555-123-1402 ::: +1 555-123-1403').valueOf()).toMatchObject({
      others: ['15551231402', '15551231403'],
    })
    // Two forms of one phone count as one number.
    expect(read('+5215512345678, +525512345678')).toMatchObject({ number: '525512345678', repair: null, others: [] })
  })

  it('is refused if something other than a second number follows, with the number as a suggestion', () => {
    for (const behind of [
      'x61914',
      ' x 12',
      ' ext. 12',
      ' ext 12',
      '#12',
      ' #12',
      '/12',
      ', ext 12',
      ';ext=12',
      ',,12',
      ' (ext 12)',
      ' Durchwahl 12',
      ' доб. 12',
      ' (work)',
      ' mobile',
    ])
      expect(read(`+1 608 555 0101${behind}`), behind).toMatchObject({
        code: 'invalid_phone_number',
        suggestion: '16085550101',
      })
    expect(read('0171 3920071/72', 'DE')).toMatchObject({ suggestion: '491713920071' })
    expect(read('0171/3920071/72', 'DE')).toMatchObject({ suggestion: '491713920071' })
    expect(read('Mobile: +1 608 555 0101')).toMatchObject({ suggestion: '16085550101' })
  })

  it('accepts a slash or a hyphen within a number', () => {
    expect(read('0171/3920071', 'DE')).toMatchObject({ number: '491713920071', others: [] })
    expect(read('030/1234567', 'DE')).toMatchObject({ number: '49301234567', others: [] })
    expect(read('0221 / 4710-123', 'DE')).toMatchObject({ number: '492214710123', others: [] })
  })

  it('is one number however its digits are grouped', () => {
    for (const [text, country, number] of [
      ['0733 000 004', 'KE', '254733000004'],
      ['+254 711 000 9 01', 'UG', '254711000901'],
      ['0160 9000 0077', 'DE', '4916090000077'],
      ['+49 1512/3450067', 'US', '4915123450067'],
      ['0043 676 70 0056 78', 'DE', '4367670005678'],
      ['+62 813 9000 0061', null, '6281390000061'],
      ['+49 35208/80012', 'DE', '493520880012'],
      ['07700 900 0 12', 'GB', '447700900012'],
      ['+351 91 000 0072', null, '351910000072'],
      ['11 9 6000 0081', 'BR', '5511960000081'],
      ['+44 7911 123480.00', null, '447911123480'],
    ] as const)
      expect(read(text, country), text).toMatchObject({ number, others: [] })
    // With a blank between them, they are two numbers.
    expect(read('0733 000 004 0733 000 005', 'KE')).toMatchObject({ number: '254733000004', others: ['254733000005'] })
  })

  it('is read whole if words surround it, and is never cut within its digits', () => {
    for (const [text, country, suggestion] of [
      ['0160/9000077 (Oma)', 'DE', '491609000077'],
      ['0160 / 9000077 dienstlich', 'DE', '491609000077'],
      ['0813 9000 0061 (istri)', 'ID', '6281390000061'],
      ['0733 000 004 (wife)', 'KE', '254733000004'],
    ] as const)
      expect(read(text, country), text).toMatchObject({ suggestion, found: suggestion })
    const grouped = fc.tuple(
      fc.stringMatching(/^1(?:5[12]\d{8}|7[0-9]\d{7,8})$/),
      fc.array(fc.tuple(fc.nat(12), fc.constantFrom(' ', '/', '-', '.', ' / ')), { maxLength: 5 }),
    )
    fc.assert(
      fc.property(grouped, ([national, marks]) => {
        let text = `0${national}`
        for (const [at, mark] of marks) if (at > 0 && at < text.length) text = text.slice(0, at) + mark + text.slice(at)
        const found = read(text, 'DE')
        if ('number' in found) expect([found.number, found.others], text).toEqual([`49${national}`, []])
        else expect(found.found ?? found.suggestion ?? `49${national}`, text).toBe(`49${national}`)
      }),
      {
        numRuns: 3000,
        examples: [
          [
            [
              '15200000000',
              [
                [6, '.'],
                [1, ' '],
              ],
            ],
          ],
          [['15200000000', [[9, '.']]]],
        ],
      },
    )
  })

  it('never makes one number of two', () => {
    const mobile = fc.stringMatching(/^[2-9]\d{2}[2-9]\d{6}$/).map((national) => `1${national}`)
    const between = fc.constantFrom('/', ' / ', ',', ';', ' ::: ', '|', ' or ', '\n', ' ')
    fc.assert(
      fc.property(mobile, mobile, between, fc.constantFrom('', '+'), (one, two, separator, plus) => {
        const found = read(`${plus}${one}${separator}${plus}${two}`, 'US')
        if ('number' in found)
          expect([found.number, ...found.others].slice(0, 2)).toEqual(one === two ? [one] : [one, two])
      }),
      { numRuns: 2000 },
    )
  })
})

const read = (text: string, country: string | null = null) => readImportedNumber(text, country)
