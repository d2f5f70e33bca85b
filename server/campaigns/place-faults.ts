/** What is told of a place that does not exist. */
import type { FieldError } from '../errors.ts'
import { isCountry } from '../messages/numbers/number.ts'

/** A country that no numbering plan knows. */
export function countryError(pointer: string, country: string): FieldError {
  const suggestion = country === 'UK' ? 'GB' : country.toUpperCase()
  return {
    pointer,
    code: 'invalid_value',
    detail: 'must be a country code of ISO 3166-1 alpha-2, such as GB',
    ...(isCountry(suggestion) && { suggestion }),
  }
}

/** A time zone that does not exist. */
export const timezoneError = (pointer: string): FieldError => ({
  pointer,
  code: 'invalid_value',
  detail: 'must be a time zone of the IANA database, such as Europe/London',
})
