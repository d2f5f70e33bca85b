/** Where a number may be at home: the time zones of its place, where it tells one, else all of its country. */
import { isTimezone } from '../ground/base/timezone.ts'
import { countryOf } from '../ground/numbers/number.ts'
import { zonesOfPlace } from './zone-plan.ts'

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
  return country === null ? none : (zonesOfPlace(country, number) ?? zonesOfCountry(country))
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
