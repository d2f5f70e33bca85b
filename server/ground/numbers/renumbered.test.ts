import fc from 'fast-check'
import { isValidPhoneNumber } from 'libphonenumber-js/max'
import { describe, expect, it } from 'vitest'
import { readImportedNumber } from './imported.ts'
import { readNumber, spellingsOf } from './number.ts'
import { planRows } from './plans.ts'

/** The current form, and other forms of the same phone. */
const phones: [current: string, ...others: string[]][] = [
  ['525512345678', '5215512345678'],
  ['5491123456789', '541123456789'],
  ['5493515123456', '543515123456'],
  ['5511987654321', '551187654321'],
  ['5521991234567', '552191234567'],
  ['84331234567', '841631234567'],
  ['84791234567', '841211234567'],
  ['84701234567', '841201234567'],
  ['84591234567', '841991234567'],
  ['2250707123456', '22507123456'],
  ['2250544123456', '22544123456'],
  ['2250141123456', '22541123456'],
  ['2252720301234', '22520301234'],
  ['2290197000001', '22997000001'],
  ['23052512345'],
  ['23057123456', '2307123456'],
  ['237677123456', '23777123456'],
  ['24177123456', '2417123456'],
  ['24166123456', '2416123456'],
  ['593991234567', '59391234567'],
]

const codes = [...new Set(planRows.split('\n').map((row) => row.split(' ')[0] ?? ''))]

describe('a phone whose number has several forms', () => {
  it('is read as its current number from every form', () => {
    for (const [current, ...others] of phones)
      for (const form of [current, ...others]) {
        expect(read(form), form).toBe(current)
        expect(read(`+${form}`), form).toBe(current)
        expect(readImportedNumber(`+${form}`, 'US'), form).toMatchObject({ number: current })
        expect(spellingsOf(current), form).toContain(form)
      }
  })

  it('has a current number that the plans contain', () => {
    for (const [current] of phones) expect(isValidPhoneNumber(`+${current}`), current).toBe(true)
  })

  it('is also read as it is dialled at home', () => {
    const home = (text: string, country: string) => readImportedNumber(text, country)
    for (const text of ['044 55 1234 5678', '045 55 1234 5678', '01 55 1234 5678', '55 1234 5678', '52 1 55 1234 5678'])
      expect(home(text, 'MX'), text).toMatchObject({ number: '525512345678' })
    for (const text of ['011 15 2345-6789', '11 2345-6789', '9 11 2345 6789', '54 11 2345 6789'])
      expect(home(text, 'AR'), text).toMatchObject({ number: '5491123456789' })
    for (const text of ['(11) 8765-4321', '(11) 98765-4321', '0 15 11 98765 4321'])
      expect(home(text, 'BR'), text).toMatchObject({ number: '5511987654321' })
    expect(home('97 00 00 01', 'BJ')).toMatchObject({ number: '2290197000001' })
    expect(home('07 12 34 56', 'CI')).toMatchObject({ number: '2250707123456' })
    expect(home('0163 123 4567', 'VN')).toMatchObject({ number: '84331234567' })
    // At home, 1 and ten more digits are a North American number.
    expect(home('13984479932', 'MX')).toMatchObject({ number: '13984479932' })
  })

  it('is refused with the likely number if the old form may belong to two phones', () => {
    expect(readNumber('551178123456')).toMatchObject({ code: 'invalid_phone_number', suggestion: '5511978123456' })
    expect(readImportedNumber('+55 11 7812-3456', null)).toMatchObject({ suggestion: '5511978123456' })
  })

  it('loses a trunk zero behind the country code', () => {
    expect(read('+4901713920052')).toBe('491713920052')
    expect(read('+390612345678')).toBe('390612345678')
  })

  it('has one current number for any digits', () => {
    const digits = fc
      .tuple(fc.constantFrom(...codes), fc.stringMatching(/^\d{4,12}$/))
      .map(([code, rest]) => code + rest)
    fc.assert(
      fc.property(digits, (text) => {
        const current = read(text)
        if (current === null) return
        expect(read(current)).toBe(current)
        expect(spellingsOf(current)[0]).toBe(current)
        for (const form of spellingsOf(current)) expect(read(form)).toBe(current)
      }),
      { numRuns: 20_000 },
    )
  })

  it('has one current number for any digits behind a renumbered code', () => {
    const renumbered = [
      '52',
      '521',
      '54',
      '549',
      '55',
      '5511',
      '84',
      '8412',
      '8416',
      '225',
      '229',
      '230',
      '237',
      '241',
      '593',
    ]
    const digits = fc
      .tuple(fc.constantFrom(...renumbered), fc.stringMatching(/^\d{6,10}$/))
      .map(([code, rest]) => code + rest)
    fc.assert(
      fc.property(digits, (text) => {
        const current = read(text)
        if (current === null) return
        expect(read(current)).toBe(current)
        for (const form of spellingsOf(current)) expect(read(form)).toBe(current)
        const imported = readImportedNumber(`+${text}`, 'US')
        if ('number' in imported) expect(imported.number).toBe(current)
      }),
      { numRuns: 20_000 },
    )
  })
})

const read = (text: string): string | null => {
  const found = readNumber(text)
  return 'number' in found ? found.number : null
}
