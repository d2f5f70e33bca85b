/** Reads a sender: its number or name, kind and country. */
import { getCountryCallingCode, parsePhoneNumberFromString } from 'libphonenumber-js/core'
import type { FieldError } from '../ground/base/errors.ts'
import { readSender } from '../ground/numbers/sender.ts'
import { countryOf, isCountry, readNumber } from '../ground/numbers/number.ts'
import type { SenderCapability, SenderKind } from './sender.ts'

/** Digits of a short code: 3 to 6 almost everywhere, up to 8 in a few countries. */
const shortCode = /^\d{3,8}$/

export type ReadSender = { number: string; kind: SenderKind; country: string | null } | { fault: FieldError }

/**
 * Reads a number or name, and derives its kind if not given: letters make a name, up to six digits a short code, toll-free ranges a
 * toll-free number, other E.164 numbers long codes. `country` (ISO 3166-1 alpha-2) must be the number's.
 */
export async function readSenderNumber(
  text: string,
  kind: SenderKind | undefined,
  country: string | undefined,
): Promise<ReadSender> {
  const number = readSender(text)
  if (typeof number !== 'string') return { fault: { ...number, pointer: '#/number' } }
  const own = isDigits(number) && number.length > 6 ? await readOwn(number) : null
  const isName = !isDigits(number)
  const told = kind ?? (isName ? 'alphanumeric' : (own?.kind ?? 'short_code'))
  const wrong = (detail: string, pointer = '#/kind'): ReadSender => ({
    fault: { pointer, code: 'invalid_value', detail },
  })
  switch (told) {
    case 'alphanumeric':
      if (!isName) return wrong('must contain a letter to be alphanumeric')
      return { number, kind: told, country: country ?? null }
    case 'short_code':
      if (!shortCode.test(number)) return wrong('must have 3 to 8 digits to be a short code')
      return { number, kind: told, country: country ?? null }
    case 'long_code':
    case 'toll_free':
      if (!own)
        return wrong(`must be an E.164 number to be a ${told === 'toll_free' ? 'toll-free number' : 'long code'}`)
      if (told !== own.kind)
        return wrong(
          told === 'toll_free'
            ? `${own.country ?? 'no country'} has not given this range to free calls`
            : `${own.country ?? 'the plan'} has given this range to free calls: it is a toll-free number`,
        )
      if (country !== undefined && !own.canBeOf(country))
        return wrong(`is not the country of the number, which is ${own.country ?? 'none'}`, '#/country')
      return { number, kind: told, country: country ?? own.country }
    default:
      return told satisfies never
  }
}

export function capabilitiesOf(kind: SenderKind): SenderCapability[] {
  return kind === 'alphanumeric' ? ['sms'] : ['sms', 'replies']
}

const isDigits = (number: string): boolean => /^\d+$/.test(number)

interface Own {
  kind: 'long_code' | 'toll_free'
  country: string | null
  /** Countries can share a calling code, and not every range belongs to one of them. */
  canBeOf: (country: string) => boolean
}

/** Kind and country by the numbering plans; null: not an E.164 number. */
async function readOwn(number: string): Promise<Own | null> {
  const read = readNumber(number)
  if (!('number' in read)) return null
  // Only the large metadata has types of all ranges: a quarter of a megabyte, loaded for the first sender.
  const { default: metadata } = await import('libphonenumber-js/max/metadata')
  const parsed = parsePhoneNumberFromString(`+${number}`, metadata)
  const isTollFree = parsed?.getType() === 'TOLL_FREE'
  // Toll-free ranges of the North American plan belong to all its members.
  const isShared = parsed?.country === undefined || (isTollFree && number.startsWith('1'))
  return {
    kind: isTollFree ? 'toll_free' : 'long_code',
    country: countryOf(number),
    canBeOf: (country) =>
      isShared
        ? isCountry(country) && getCountryCallingCode(country, metadata) === parsed?.countryCallingCode
        : country === parsed.country,
  }
}
