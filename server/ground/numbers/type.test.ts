import { parsePhoneNumberFromString } from 'libphonenumber-js/core'
import metadata from 'libphonenumber-js/max/metadata'
import { describe, expect, it } from 'vitest'
import { isOfPeople, isPremium } from './type.ts'

describe('the type of a number', () => {
  it('is premium if callers pay extra', () => {
    for (const number of [
      '19002345678',
      '449011234567',
      '979123456789',
      '33899123456',
      '61190212345',
      '8190123456',
      '41900123456',
    ])
      expect(isPremium(number), number).toBe(
        parsePhoneNumberFromString(`+${number}`, metadata)?.getType() === 'PREMIUM_RATE',
      )
    expect(['19002345678', '449011234567', '979123456789', '41900123456'].map(isPremium)).toEqual([
      true,
      true,
      true,
      true,
    ])
    expect(['15551234567', '447911123456', '491713920052', '18002345678'].map(isPremium)).toEqual([
      false,
      false,
      false,
      false,
    ])
  })

  it('agrees with libphonenumber on the premium numbers of every country', () => {
    const wrong: string[] = []
    let premium = 0
    for (const [country, entry] of Object.entries(metadata.countries as unknown as Record<string, [string]>))
      for (let n = 0; n < 120; n++) {
        const [code] = entry
        const head = ['900', '90', '190', '89', '60', '8', '9', '19', '70', '1'][n % 10] ?? ''
        const rest = String((n * 7_919_191_919) % 1e10).padStart(10, '0')
        const number = `${code}${head}${rest}`.slice(0, code.length + 5 + (n % 7))
        const theirs = parsePhoneNumberFromString(`+${number}`, { extract: false }, metadata)
        if (theirs?.number !== `+${number}` || theirs.country !== country) continue
        const isTheirs = theirs.getType() === 'PREMIUM_RATE'
        if (isTheirs) premium++
        if (isTheirs && !isPremium(number)) wrong.push(number)
      }
    expect(premium).toBeGreaterThan(60)
    expect(wrong).toEqual([])
  })

  it('is personal for mobile numbers, and for fixed ones if those look the same', () => {
    expect(isOfPeople('1', '12025550123')).toBe(true)
    expect(isOfPeople('49', '491713920052')).toBe(true)
    expect(isOfPeople('49', '49301234567')).toBe(false)
  })
})
