import { getCountries, getExampleNumber } from 'libphonenumber-js'
import examples from 'libphonenumber-js/mobile/examples'
import { describe, expect, it } from 'vitest'
import { areaZones } from './quiet-hours-areas.ts'
import { zonesOfCountry, zonesOfNumber } from './quiet-hours-zones.ts'
import { isTimezone } from '../timezone.ts'

describe('time zones of a number', () => {
  it('are there and of the IANA database for every country that has numbers', () => {
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

  it('are all of the country', () => {
    expect(zonesOfNumber('447400123456')).toEqual(['Europe/London'])
    expect(zonesOfNumber('33612345678')).toEqual(['Europe/Paris'])
    expect(zonesOfNumber('79161234567')).toEqual(expect.arrayContaining(['Europe/Kaliningrad', 'Asia/Kamchatka']))
    expect(zonesOfNumber('5511961234567')).toEqual(
      expect.arrayContaining(['America/Noronha', 'America/Sao_Paulo', 'America/Rio_Branco']),
    )
    expect(zonesOfNumber('61412345678')).toEqual(expect.arrayContaining(['Australia/Sydney', 'Australia/Perth']))
    expect(zonesOfNumber('34612345678')).toEqual(expect.arrayContaining(['Europe/Madrid', 'Atlantic/Canary']))
  })

  it('are those of the area code in the United States and Canada', () => {
    expect(zonesOfNumber('12125550100')).toEqual(['America/New_York'])
    expect(zonesOfNumber('13105550100')).toEqual(['America/Los_Angeles'])
    expect(zonesOfNumber('18085550100')).toEqual(['Pacific/Honolulu'])
    expect(zonesOfNumber('16045550100')).toEqual(['America/Vancouver'])
    expect(zonesOfNumber('16055550100')).toEqual(expect.arrayContaining(['America/Chicago', 'America/Denver']))
    expect(zonesOfNumber('18765550100')).toEqual(['America/Jamaica'])
    // Of no place.
    for (const number of ['18005550100', '15551230001'])
      expect(zonesOfNumber(number)).toEqual(expect.arrayContaining(['America/New_York', 'Pacific/Honolulu']))
    const codes = areaZones.flatMap(([zones, all]) => all.split(' ').map((code) => ({ code, zones })))
    expect(new Set(codes.map(({ code }) => code)).size).toBe(codes.length)
    for (const { code, zones } of codes) {
      expect(code).toMatch(/^[2-9]\d\d$/)
      for (const zone of zones) expect(isTimezone(zone), zone).toBe(true)
    }
  })

  it('are none for codes of no country', () => {
    expect(zonesOfNumber('870773123456')).toEqual([])
    expect(zonesOfNumber('80012345678')).toEqual([])
  })
})
