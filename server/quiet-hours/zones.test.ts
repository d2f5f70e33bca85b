import { getCountries, getExampleNumber } from 'libphonenumber-js'
import examples from 'libphonenumber-js/mobile/examples'
import { describe, expect, it } from 'vitest'
import { zonesOfCountry, zonesOfNumber } from './zones.ts'
import { isTimezone } from '../ground/base/timezone.ts'

describe('time zones of a number', () => {
  it('exist in the IANA database for every country with numbers', () => {
    const countries = getCountries()
    expect(countries.length).toBeGreaterThan(240)
    for (const country of countries) {
      const zones = zonesOfCountry(country)
      expect(zones.length, country).toBeGreaterThan(0)
      for (const zone of zones) expect(zone.includes('/') && isTimezone(zone), `${country}: ${zone}`).toBe(true)
      const example = getExampleNumber(country, examples)?.number.slice(1)
      if (example) expect(zonesOfNumber(example).length, example).toBeGreaterThan(0)
    }
  })

  it('are all of the country if the number has no place, like mobile numbers in most countries', () => {
    expect(zonesOfNumber('447400123456')).toEqual(['Europe/London'])
    expect(zonesOfNumber('33612345678')).toEqual(['Europe/Paris'])
    expect(zonesOfNumber('79161234567')).toEqual(expect.arrayContaining(['Europe/Kaliningrad', 'Asia/Kamchatka']))
    expect(zonesOfNumber('61412345678')).toEqual(expect.arrayContaining(['Australia/Sydney', 'Australia/Perth']))
    expect(zonesOfNumber('34612345678')).toEqual(expect.arrayContaining(['Europe/Madrid', 'Atlantic/Canary']))
    expect(zonesOfNumber('628121234567')).toEqual(expect.arrayContaining(['Asia/Jakarta', 'Asia/Jayapura']))
    expect(zonesOfNumber('56961234567')).toEqual(expect.arrayContaining(['America/Santiago', 'Pacific/Easter']))
    expect(zonesOfNumber('77272123456')).toEqual(expect.arrayContaining(['Asia/Almaty', 'Asia/Aqtobe']))
  })

  it('are those of the number’s place', () => {
    expect(zonesOfNumber('74951234567')).toEqual(['Europe/Moscow'])
    expect(zonesOfNumber('74232123456')).toEqual(['Asia/Vladivostok'])
    expect(zonesOfNumber('61291234567')).toEqual(['Australia/Sydney'])
    expect(zonesOfNumber('34928123456')).toEqual(['Atlantic/Canary'])
    expect(zonesOfNumber('62211234567')).toEqual(['Asia/Jakarta'])
    // Mobile numbers of Brazil and Mexico have area codes.
    expect(zonesOfNumber('5511961234567')).toEqual(['America/Sao_Paulo'])
    expect(zonesOfNumber('5592991234567')).toEqual(['America/Manaus'])
    expect(zonesOfNumber('526641234567')).toEqual(['America/Tijuana'])
  })

  it('are those of the whole country if it has one time by law', () => {
    expect(zonesOfNumber('8613912345678')).toEqual(['Asia/Shanghai'])
    expect(zonesOfNumber('380671234567')).toEqual(['Europe/Kyiv'])
  })

  it('are those of the territory that shares a code', () => {
    expect(zonesOfNumber('447797712345')).toEqual(['Europe/Jersey'])
    expect(zonesOfNumber('262639012345')).toEqual(['Indian/Mayotte'])
    expect(zonesOfNumber('17875550100')).toEqual(['America/Puerto_Rico'])
  })

  it('are those of the area code in the United States and Canada', () => {
    expect(zonesOfNumber('12125550100')).toEqual(['America/New_York'])
    expect(zonesOfNumber('13105550100')).toEqual(['America/Los_Angeles'])
    expect(zonesOfNumber('18085550100')).toEqual(['Pacific/Honolulu'])
    expect(zonesOfNumber('16045550100')).toEqual(['America/Vancouver'])
    expect(zonesOfNumber('16055550100')).toEqual(expect.arrayContaining(['America/Chicago', 'America/Denver']))
    expect(zonesOfNumber('18765550100')).toEqual(['America/Jamaica'])
    // Numbers without a place.
    for (const number of ['18005550100', '15551230001'])
      expect(zonesOfNumber(number)).toEqual(expect.arrayContaining(['America/New_York', 'Pacific/Honolulu']))
  })

  it('are none for codes of no country', () => {
    expect(zonesOfNumber('870773123456')).toEqual([])
    expect(zonesOfNumber('80012345678')).toEqual([])
  })
})
