import { detectAddress } from '@heliogram/smpp'
import type { FieldError } from '../base/errors.ts'
import { countryOf } from './number.ts'
import { completeNumber } from './written.ts'

/** A sender as stored: digits, or an alphanumeric sender of up to 11 characters with a letter (3GPP TS 23.040 §9.1.2.5). */
export function readSender(from: string): string | FieldError {
  const digits = from.replace(/^\+/, '')
  if (/^\d{3,15}$/.test(digits)) return digits
  // Only characters that a link can write: the submit would otherwise have no address.
  if (/[A-Za-z]/.test(from) && from.trim() === from && detectAddress(from)) return from
  return {
    pointer: '#/from',
    code: 'invalid_sender',
    detail: 'must be 3 to 15 digits, or up to 11 ASCII characters with a letter',
  }
}

// Every send needs it, an account has few senders, and reading a number takes 2 µs.
const countries = new Map<string, string | null>()
const countriesMax = 1000

/** The country of a sender that is a phone number; null for names, short codes and no sender. */
export function countryOfSender(from: string | undefined): string | null {
  if (from === undefined) return null
  const known = countries.get(from)
  if (known !== undefined) return known
  if (countries.size >= countriesMax) countries.clear()
  const digits = from.replace(/^\+/, '')
  const country = /^\d{7,}$/.test(digits) && completeNumber(digits) !== null ? countryOf(digits) : null
  countries.set(from, country)
  return country
}
