import { describe, expect, it } from 'vitest'
import { readImportedNumber } from './imported.ts'
import { countryOf, isCountry, readNumber, suggestNumber } from './number.ts'
import { allowAnyLength } from './plan.ts'

describe('readNumber', () => {
  it('accepts a number with or without a plus sign and keeps only the digits', () => {
    expect(read('+447911123456')).toEqual(['447911123456'])
    expect(read('447911123456')).toEqual(['447911123456'])
  })

  it('accepts sample and test numbers in unassigned ranges, with a warning', () => {
    expect(read('15551234567')).toEqual(['15551234567', 'unassigned_range'])
    expect(read('+15551230001')).toEqual(['15551230001', 'unassigned_range'])
    expect(read('15005550006')).toEqual(['15005550006'])
  })

  it('refuses other characters and suggests the likely number', () => {
    expect(read('+1 (555) 123-4567')).toBe('15551234567')
    expect(read('00447911123456')).toBe('447911123456')
    expect(read('+44 (0)7911 123456')).toBe('447911123456')
    expect(read('07911 123456', 'GB')).toBe('447911123456')
    for (const text of ['٤٤٧٩١١١٢٣٤٥٦', '۴۴۷۹۱۱۱۲۳۴۵۶', '４４７９１１１２３４５６'])
      expect(read(text)).toBe('447911123456')
    expect(read('+۴۴ ７٩8٠٧٧٥٠٧٠')).toBe('447980775070')
    for (const text of ['1 555 123 4567', '1 (555) 123-4567', '15551234567.']) expect(read(text)).toBe('15551234567')
    expect(read('447911 123456')).toBe('447911123456')
    // Area codes, not the calling codes of Brazil and the Philippines.
    for (const text of ['(555) 123-2007', '555-123-2007', '555.123.2007', '(632) 555-0123'])
      expect(read(text)).toBeUndefined()
    expect(read('(555) 123-2007', 'US')).toBe('15551232007')
    for (const text of ['', '+', 'hello', '1e10', '=1+1', '4.47E+11', '12345', '1'.repeat(5000), '٤'])
      expect(read(text)).toBeUndefined()
    for (const text of ['tel:+447911123581', 'whatsapp:+447911123581', '447911123581 x12', '44 7911 123581.00'])
      expect(read(text), text).toBe('447911123581')
    expect(read('+447911123581; +447911123582')).toBe('447911123581')
    // As long as a number, but not one.
    for (const text of ['1555-123-45', '15551234 67', '1555123456x', '1555123456\n', '1555123456\u0664', '+555123456'])
      expect(readNumber(text), text).toMatchObject({ code: 'invalid_phone_number' })
  })

  it('refuses impossible numbers: unknown calling codes and wrong lengths', () => {
    expect(readNumber('2101234567')).toMatchObject({
      code: 'invalid_phone_number',
      detail: expect.stringMatching('calling code'),
    })
    expect(readNumber('1555123456')).toMatchObject({
      detail: 'must have 10 digits after +1; it has 9; if it lacks its country code, add that',
    })
    expect(readNumber('+44791112')).toMatchObject({ detail: 'must have 7, 9 or 10 digits after +44; it has 6' })
    expect(read('4407911123456')).toBe('447911123456')
    expect(read('7911123456', 'GB')).toBe('447911123456')
  })

  it('refuses digits that are a national number in a country without a prefix', () => {
    expect(read('2025550123', 'US')).toBe('12025550123')
    expect(read('2025550123', 'CA')).toBe('12025550123')
    expect(read('4582345678', 'US')).toBe('14582345678')
    expect(read('11987654321', 'BR')).toBe('5511987654321')
    expect(read('13812345678', 'CN')).toBe('8613812345678')
    expect(readNumber('2025550123', 'US')).toMatchObject({
      code: 'invalid_phone_number',
      detail: 'is a number in US without its country code, and in EG with it: write 12025550123, or +2025550123',
    })
    // No number abroad has these digits, and 92123 45678 is a mobile number in India.
    expect(read('9212345678', 'IN')).toBe('919212345678')
  })

  it('accepts digits with a country code unless they are also a national number, and all with a plus sign', () => {
    expect(read('4582345678', 'DK')).toEqual(['4582345678'])
    expect(read('+4582345678', 'US')).toEqual(['4582345678'])
    expect(read('447911123456', 'US')).toEqual(['447911123456'])
    expect(read('33639980011', 'IT')).toEqual(['33639980011'])
    expect(read('15551234567', 'US')).toEqual(['15551234567', 'unassigned_range'])
    expect(read('525512345678', 'US')).toEqual(['525512345678'])
    expect(read('447911123456', 'DE')).toEqual(['447911123456'])
  })

  it('only warns if people write a prefix, and both readings are assigned', () => {
    expect(read('17139200521', 'DE')).toEqual(['17139200521', 'possible_national_number'])
    expect(read('5321234567', 'TR')).toEqual(['5321234567', 'possible_national_number'])
  })

  it('agrees with itself: both forms that a refusal names are accepted', () => {
    for (const [digits, country] of [
      ['2025550123', 'US'],
      ['11987654321', 'BR'],
      ['9212345678', 'IN'],
    ] as const) {
      const refused = readNumber(digits, country)
      const suggestion = 'suggestion' in refused ? (refused.suggestion ?? '') : ''
      expect(readNumber(suggestion, country)).toMatchObject({ number: suggestion })
      expect(readNumber(`+${digits}`, country)).toMatchObject({ number: digits })
    }
  })

  it('accepts numbers outside the plan if the operator allows them, with a warning', () => {
    const machine = '371300000000123'
    expect(readNumber(machine)).toMatchObject({
      detail: expect.stringContaining('HELIOGRAM_ANY_LENGTH_COUNTRIES') as string,
    })
    allowAnyLength(['LV'])
    try {
      expect(read(machine)).toEqual([machine, 'unassigned_range'])
      expect(read(`+${machine}`)).toEqual([machine, 'unassigned_range'])
      expect(read('37120000000')).toEqual(['37120000000'])
      expect(readImportedNumber(`+${machine}`, 'US')).toMatchObject({ number: machine })
      expect(readImportedNumber('20000000', 'LV')).toMatchObject({ number: '37120000000' })
      expect(readNumber('+1555123456')).toMatchObject({ detail: 'must have 10 digits after +1; it has 9' })
    } finally {
      allowAnyLength([])
    }
    expect(readNumber(machine)).toMatchObject({ code: 'invalid_phone_number' })
  })

  it('returns the country, and the main one if the range does not decide', () => {
    const countries = [
      '447911123456',
      '447700900123',
      '14165550100',
      '15551234567',
      '77012345678',
      '87012345678',
      '2101234567',
    ]
    expect(countries.map(countryOf)).toEqual(['GG', 'GB', 'CA', 'US', 'KZ', null, null])
    expect(['GB', 'gb', 'UK', 'constructor', ''].map((text) => isCountry(text))).toEqual([
      true,
      false,
      false,
      false,
      false,
    ])
    expect(suggestNumber('x'.repeat(100_000))).toBeNull()
  })
})

const read = (text: string, country?: string) => {
  const result = readNumber(text, country)
  return 'number' in result ? [result.number, ...result.warnings.map((warning) => warning.code)] : result.suggestion
}

it.each([
  ['1 55 1234 5675', 'MX', '525512345675'],
  ['1 (33) 1234-5678', 'MX', '523312345678'],
  ['1 551 234 5675', 'MX', undefined],
  ['044 55 1234 5675', 'MX', '525512345675'],
  ['09 1234 5678', 'CL', '56912345678'],
  ['02 2345 6789', 'CL', '56223456789'],
  ['1 55 1234 5675', 'US', '15512345675'],
])('suggests for %s in %s, with an old prefix of the country, %s', (text, country, suggestion) => {
  expect(readNumber(text, country)).toMatchObject({ code: 'invalid_phone_number' })
  expect(suggestNumber(text, country) ?? undefined).toBe(suggestion)
})

it.each([
  ['08 1234 5678', 'CL'],
  ['09-1234567', 'CL'],
  ['1 2 3456 7890', 'CL'],
  ['469 012 3456', 'US'],
  ['1234567890', 'US'],
])('suggests nothing for %s in %s, where no such number is assigned, and an import refuses it', (text, country) => {
  expect(suggestNumber(text, country)).toBeNull()
  const refused = { detail: expect.stringContaining(`is not assigned in ${country}: add its area code`) as string }
  for (const one of [text, text.replace(/\D/g, '')])
    expect(readImportedNumber(one, country), one).toMatchObject(refused)
})

it.each([
  ['15 1234-5678', 'AR', '541512345678'],
  ['0 15 6123 4567', 'AR', '541561234567'],
  ['98765-4321', 'BR', '55987654321'],
])('refuses %s in %s, which lacks its area code, with the country code too', (text, country, whole) => {
  expect(suggestNumber(text, country)).toBeNull()
  const refused = { detail: 'lacks its area code' }
  for (const one of [text, text.replace(/\D/g, ''), `+${whole}`])
    expect(readImportedNumber(one, country), one).toMatchObject(refused)
  for (const one of [whole, `+${whole}`]) expect(readNumber(one), one).toMatchObject(refused)
})

it('warns of ten digits that are a national number of the US if no country is known', () => {
  expect(read('4582345678')).toEqual(['4582345678', 'possible_national_number'])
  expect(read('+4582345678')).toEqual(['4582345678'])
  expect(read('4582345678', 'DK')).toEqual(['4582345678'])
  expect(read('447911123456')).toEqual(['447911123456'])
})

it('warns of a number of the US that is one of Mexico with the old mobile prefix', () => {
  const warnings = (text: string, country: string | null): string[] => {
    const read = readNumber(text, country)
    return 'number' in read ? read.warnings.map(({ code }) => code) : [read.code]
  }
  expect(warnings('15512345675', 'MX')).toEqual(['possible_national_number'])
  expect(warnings('+15512345675', 'MX')).toEqual([])
  expect(warnings('15512345675', null)).toEqual([])
})
