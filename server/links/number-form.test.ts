import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { smppDefaults } from './carrier-settings.ts'
import { readNumberIn, readPersonIn, writeRecipient } from './number-form.ts'

describe('a delivered number', () => {
  it.each<[string, number | undefined, string, string]>([
    ['+447700900123', 1, '', '447700900123'],
    ['447700900123', 1, 'GB', '447700900123'],
    ['00447700900123', 0, '', '447700900123'],
    ['07700900123', 2, 'GB', '447700900123'],
    ['07700900123', 0, 'GB', '447700900123'],
    ['7700900123', 2, 'GB', '447700900123'],
    // It says national but includes the country code.
    ['447700900123', 2, 'GB', '447700900123'],
    ['447700900123', 0, 'GB', '447700900123'],
    ['2025550123', 2, 'US', '12025550123'],
    ['12025550123', 2, 'US', '12025550123'],
    // Valid in another country as well as in this one: only the TON decides.
    ['07700900123', 0, '', '07700900123'],
    ['07700900123', 1, 'GB', '447700900123'],
    // Norway's, unless the carrier marks it as national.
    ['4791234567', 0, 'US', '4791234567'],
    ['4791234567', undefined, 'US', '4791234567'],
    ['4791234567', 2, 'US', '14791234567'],
    ['7700900123', 0, 'GB', '447700900123'],
    ['40404', 2, 'GB', '40404'],
    ['123456', 2, 'DE', '123456'],
    ['1234567', 2, 'DE', '491234567'],
    ['40404', 3, '', '40404'],
    ['Acme', 5, 'GB', 'Acme'],
    ['0800', 5, 'GB', '0800'],
    ['', undefined, 'GB', ''],
    ['000000000000', 2, 'GB', '0000000000'],
  ])('%j with TON %j and the country %j is %j', (address, ton, country, number) => {
    expect(readNumberIn(address, ton, country)).toBe(number)
  })

  it('in international form is unchanged, whatever the country', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('15551230001', '447700900123', '4915112345678', '33612345678', '5511961234567'),
        fc.constantFrom('', 'US', 'GB', 'DE', 'FR', 'BR'),
        fc.constantFrom(0, 1, undefined),
        (number, country, ton) => {
          expect(readNumberIn(number, ton, country)).toBe(number)
          expect(readNumberIn(`+${number}`, ton, country)).toBe(number)
        },
      ),
    )
  })
})

describe('a person who is delivered', () => {
  it.each<[string, number | undefined, string, string]>([
    ['5215512345678', 1, '', '525512345678'],
    ['+5215512345678', 1, '', '525512345678'],
    ['005215512345678', 0, '', '525512345678'],
    ['5512345678', 2, 'MX', '525512345678'],
    ['541123456789', 1, '', '5491123456789'],
    ['22997000001', 1, '', '2290197000001'],
    ['97000001', 2, 'BJ', '2290197000001'],
    ['551187654321', 1, '', '5511987654321'],
    // It may be two phones: unchanged.
    ['551178123456', 1, '', '551178123456'],
    ['40404', 3, '', '40404'],
    ['Acme', 5, '', 'Acme'],
    ['07700900123', 1, 'GB', '447700900123'],
  ])('%j with TON %j and the country %j is %j', (address, ton, country, number) => {
    expect(readPersonIn(address, ton, country)).toBe(number)
  })
})

describe('a recipient', () => {
  it('is written in its current form, or in the other if the carrier wants that for the country', () => {
    const write = (number: string, ...countries: ('AR' | 'MX')[]): string =>
      writeRecipient(number, { ...smppDefaults, recipient_other_form: countries })
    expect(write('5491123456789')).toBe('5491123456789')
    expect(write('5491123456789', 'AR')).toBe('541123456789')
    expect(write('525512345678', 'AR')).toBe('525512345678')
    expect(write('525512345678', 'MX', 'AR')).toBe('5215512345678')
    expect(write('5511987654321', 'MX', 'AR')).toBe('5511987654321')
    expect(write('15551230001', 'MX', 'AR')).toBe('15551230001')
  })
})
