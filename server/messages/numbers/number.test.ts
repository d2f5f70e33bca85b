import { describe, expect, it } from 'vitest'
import { countryOf, isCountry, readNumber, suggestNumber } from './number.ts'

const read = (text: string, country?: string) => {
  const result = readNumber(text, country)
  return 'number' in result ? [result.number, ...result.warnings.map((warning) => warning.code)] : result.suggestion
}

describe('readNumber', () => {
  it('takes a number with or without a plus sign and keeps digits only', () => {
    expect(read('+447911123456')).toEqual(['447911123456'])
    expect(read('447911123456')).toEqual(['447911123456'])
  })

  it('accepts sample and test numbers of ranges that nobody has, with a warning', () => {
    expect(read('15551234567')).toEqual(['15551234567', 'unassigned_range'])
    expect(read('+15551230001')).toEqual(['15551230001', 'unassigned_range'])
    expect(read('15005550006')).toEqual(['15005550006'])
  })

  it('refuses other characters and suggests what was meant', () => {
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
    // As long as a number, and none.
    for (const text of ['1555-123-45', '15551234 67', '1555123456x', '1555123456\n', '1555123456\u0664', '+555123456'])
      expect(readNumber(text), text).toMatchObject({ code: 'invalid_phone_number' })
  })

  it('refuses what cannot exist: unknown calling codes and wrong lengths', () => {
    expect(readNumber('2101234567')).toMatchObject({
      code: 'invalid_phone_number',
      detail: expect.stringMatching('calling code'),
    })
    expect(readNumber('1555123456')).toMatchObject({
      detail: 'must have 10 digits after +1; it has 9',
    })
    expect(readNumber('44791112')).toMatchObject({ detail: 'must have 7, 9 or 10 digits after +44; it has 6' })
    expect(read('4407911123456')).toBe('447911123456')
    expect(read('7911123456', 'GB')).toBe('447911123456')
  })

  it('warns of a national number that reads as one of another country', () => {
    expect(read('4582345678', 'US')).toEqual(['4582345678', 'possible_national_number'])
    expect(read('4582345678', 'DK')).toEqual(['4582345678'])
    expect(read('+4582345678', 'US')).toEqual(['4582345678'])
    expect(read('4582345678')).toEqual(['4582345678'])
    expect(read('447911123456', 'US')).toEqual(['447911123456'])
    expect(read('2025550123', 'US')).toEqual(['2025550123', 'unassigned_range', 'possible_national_number'])
  })

  it('tells the country, and the main one where the range tells none', () => {
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
