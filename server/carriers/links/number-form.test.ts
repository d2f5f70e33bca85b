import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readNumberIn } from './number-form.ts'

describe('a delivered number', () => {
  it.each<[string, number | undefined, string, string]>([
    ['+447700900123', 1, '', '447700900123'],
    ['447700900123', 1, 'GB', '447700900123'],
    ['00447700900123', 0, '', '447700900123'],
    ['07700900123', 2, 'GB', '447700900123'],
    ['07700900123', 0, 'GB', '447700900123'],
    ['7700900123', 2, 'GB', '447700900123'],
    // It calls it national and writes the country code all the same.
    ['447700900123', 2, 'GB', '447700900123'],
    ['447700900123', 0, 'GB', '447700900123'],
    ['2025550123', 2, 'US', '12025550123'],
    ['12025550123', 2, 'US', '12025550123'],
    // A number of another country as well as of this one: only the TON can tell.
    ['07700900123', 0, '', '07700900123'],
    ['07700900123', 1, 'GB', '07700900123'],
    // Norway's, unless the carrier says that it is one of its own country.
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

  it('in international form stays as it is, whatever the country', () => {
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
