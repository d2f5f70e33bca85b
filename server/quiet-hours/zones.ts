/** The possible time zones of a number: those of its place if known, else all of its country. */
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
 * The time zones (IANA) of a number from `readNumber`; none for codes of no country, such as satellites. Codes of all North America
 * (toll-free, or unassigned) have those of the United States. Numbers of one place share an array.
 */
export function zonesOfNumber(number: string): readonly string[] {
  const country = countryOf(number)
  return country === null ? none : (zonesOfPlace(country, number) ?? zonesOfCountry(country))
}

export function zonesOfCountry(country: string): readonly string[] {
  let zones = countries.get(country)
  if (!zones) {
    const locale: Intl.Locale & { getTimeZones?: () => string[] | undefined } = new Intl.Locale(`und-${country}`)
    zones = (locale.getTimeZones?.() ?? []).filter(isTimezone)
    countries.set(country, zones)
  }
  return zones
}
