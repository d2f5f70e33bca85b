/** Numbers in a carrier's form: type and plan of those sent, and conversion of those delivered. */
import { detectAddress, TON, type FieldsInput, type SmppAddress } from '@heliogram/smpp'
import { countryOf, currentNumber, spellingsOf } from '../ground/numbers/number.ts'
import { parseNumber } from '../ground/numbers/written.ts'
import type { SmppSettings } from './carrier-settings.ts'

/** A sender with the carrier's type and plan for its kind; the carrier's default without one, or for one that no carrier takes. */
export function writeSender(
  sender: string | null,
  settings: SmppSettings,
): Pick<FieldsInput<'submit_sm'>, 'source_addr_ton' | 'source_addr_npi' | 'source_addr'> {
  const found = sender === null ? undefined : detectAddress(sender)
  if (!found) return { source_addr_ton: 0, source_addr_npi: 0, source_addr: '' }
  const [ton, npi] = formOf(found, settings)
  return { source_addr_ton: ton, source_addr_npi: npi, source_addr: found.addr }
}

function formOf({ ton }: SmppAddress, settings: SmppSettings): [ton: number, npi: number] {
  if (ton === TON.INTERNATIONAL) return [settings.long_code_ton, settings.long_code_npi]
  if (ton === TON.ALPHANUMERIC) return [settings.alphanumeric_ton, settings.alphanumeric_npi]
  return [settings.short_code_ton, settings.short_code_npi]
}

/** A recipient in the carrier's form for its country. */
export function writeRecipient(number: string, { recipient_other_form: countries }: OtherForm): string {
  if (countries.length === 0) return number
  const [, other = number] = spellingsOf(number)
  return countries.some((country) => country === countryOf(number)) ? other : number
}

type OtherForm = Pick<SmppSettings, 'recipient_other_form'>

// The longest short code: a number up to this length has no country code, even if its TON says international.
const shortCodeDigitsMax = 6

/**
 * A delivered number in the ledger's form: digits with the country code. A plus sign and the prefix 00 are removed; if the carrier's `country` is
 * known, its national numbers (TON 2, a trunk prefix, or too short for any country) get its code. Names, short codes and invalid numbers stay
 * unchanged.
 */
export function readNumberIn(address: string, ton: number | undefined, country: string): string {
  if (!/^\+?\d+$/.test(address)) return address
  if (address.startsWith('+')) return address.slice(1)
  if (address.length <= shortCodeDigitsMax) return address
  if (address.startsWith('00')) return address.slice(2)
  // No number with a country code begins with 0, whatever its TON.
  const mayBeNational = ton !== TON.INTERNATIONAL || address.startsWith('0')
  const isNational = ton === TON.NATIONAL || (mayBeNational && !isInternational(address))
  return (country !== '' && isNational && parseNumber(address, country)) || address
}

/** The recipient's number in our form, from any form of the carrier. */
export const readPersonIn = (address: string, ton: number | undefined, country: string): string =>
  currentNumber(readNumberIn(address, ton, country))

const isInternational = (digits: string): boolean => parseNumber(`+${digits}`) !== null
