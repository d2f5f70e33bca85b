/** Normalizes a contact from a request or file. No schemas here: imports read rows in a thread without them. */
import type { FieldError } from '../ground/base/errors.ts'
import { canonicalLanguage } from '../ground/http/language.ts'
import { refuseObtained } from '../message/consent.ts'
import { isCountry } from '../ground/numbers/number.ts'
import type { ContactInput } from './contact.ts'
import type { NewContact } from './store.ts'
import { countryError } from '../ground/numbers/country-fault.ts'
import { readZone } from './zone-names.ts'

/** Checks beyond the schema, for input of any shape: refused fields are skipped. `readPhone` is strict in requests, lenient in imports. */
export function readContact(
  input: Partial<Record<keyof ContactInput, unknown>>,
  readPhone: (text: string) => { number: string } | Omit<FieldError, 'pointer'>,
): { contact: NewContact | null; errors: FieldError[] } {
  const errors: FieldError[] = []
  const phone = typeof input.phone_number === 'string' ? readPhone(input.phone_number) : null
  if (phone && !('number' in phone)) errors.push({ pointer: '#/phone_number', ...phone })
  const { country, timezone, language } = input
  if (typeof country === 'string' && !isCountry(country)) errors.push(countryError('#/country', country))
  const number = phone && 'number' in phone ? phone.number : null
  const zone = typeof timezone === 'string' ? readZone(timezone, number) : null
  if (zone && !('timezone' in zone)) errors.push({ pointer: '#/timezone', ...zone })
  const canonical = typeof language === 'string' ? canonicalLanguage(language) : null
  if (typeof language === 'string' && canonical === null)
    errors.push({
      pointer: '#/language',
      code: 'invalid_value',
      detail: 'must be a BCP 47 language tag, such as en-GB',
    })
  if (typeof input.consent === 'object' && input.consent !== null && 'obtained_at' in input.consent)
    errors.push(...refuseObtained('#/consent/obtained_at', input.consent.obtained_at))
  if (errors.length > 0 || !phone || !('number' in phone)) return { contact: null, errors }
  const { first_name, last_name, external_id, attributes, tags, consent } = input as ContactInput
  return {
    errors,
    contact: {
      phoneNumber: phone.number,
      firstName: first_name ?? null,
      lastName: last_name ?? null,
      externalId: external_id ?? null,
      language: canonical,
      country: (country as string | undefined) ?? null,
      timezone: zone && 'timezone' in zone ? zone.timezone : null,
      attributes: attributes ?? null,
      tags: tags ?? null,
      consent: consent ?? null,
    },
  }
}
