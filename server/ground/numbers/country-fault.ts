import type { FieldError } from '../base/errors.ts'
import { isCountry } from './number.ts'

export function countryError(pointer: string, country: string): FieldError {
  const suggestion = country === 'UK' ? 'GB' : country.toUpperCase()
  return {
    pointer,
    code: 'invalid_value',
    detail: 'must be a country code of ISO 3166-1 alpha-2, such as GB',
    ...(isCountry(suggestion) && { suggestion }),
  }
}
