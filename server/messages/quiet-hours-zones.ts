/** Where a number may be at home: all time zones of its country or, in North America, of its area code. */
import { isTimezone } from '../timezone.ts'
import { countryOf } from './number.ts'
import { areaZones } from './quiet-hours-areas.ts'

const areas = new Map(areaZones.flatMap(([zones, codes]) => codes.split(' ').map((code) => [code, zones] as const)))

// Countries that have numbers and are not in the runtime's tables.
const countries = new Map<string, readonly string[]>([
  ['AC', ['Atlantic/St_Helena']],
  ['TA', ['Atlantic/St_Helena']],
  ['XK', ['Europe/Belgrade']],
])

const none: readonly string[] = []

/**
 * The time zones (IANA) of a number that `readNumber` gave; none for codes of no country, such as satellites. A code of the whole of
 * North America (toll-free, or not assigned) has those of the United States. One array for all numbers of a place.
 */
export function zonesOfNumber(number: string): readonly string[] {
  const country = countryOf(number)
  if (country === null) return none
  const isPlanOfAreas = country === 'US' || country === 'CA'
  return (isPlanOfAreas ? areas.get(number.slice(1, 4)) : undefined) ?? zonesOfCountry(country)
}

/** All time zones of a country (ISO 3166-1 alpha-2). */
export function zonesOfCountry(country: string): readonly string[] {
  let zones = countries.get(country)
  if (!zones) {
    const locale: Intl.Locale & { getTimeZones?: () => string[] | undefined } = new Intl.Locale(`und-${country}`)
    zones = (locale.getTimeZones?.() ?? []).filter(isTimezone)
    countries.set(country, zones)
  }
  return zones
}
