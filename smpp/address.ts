/** Type of number. SMPP 3.4 §5.2.5. */
export const TON = {
  UNKNOWN: 0,
  INTERNATIONAL: 1,
  NATIONAL: 2,
  NETWORK_SPECIFIC: 3,
  SUBSCRIBER: 4,
  ALPHANUMERIC: 5,
  ABBREVIATED: 6,
} as const

/** Numbering plan indicator. SMPP 3.4 §5.2.6. */
export const NPI = { UNKNOWN: 0, ISDN: 1, DATA: 3, TELEX: 4, LAND_MOBILE: 6, NATIONAL: 8, PRIVATE: 9 } as const

export interface SmppAddress {
  readonly ton: number
  readonly npi: number
  readonly addr: string
}

/** Longest short code. More digits than this without a country code cannot be routed. */
const SHORT_CODE_DIGITS_MAX = 6

// Characters that are the same octet in ASCII and in the GSM alphabet, plus '$', '@' and '_', which every carrier takes as ASCII: in the GSM
// alphabet '@' would be octet 0, which ends the field.
const ALPHANUMERIC = /^(?=.*[A-Za-z])[A-Za-z0-9 !"#$%&'()*+,\-./:;<=>?@_]{1,11}$/

/**
 * Guesses type and plan from the form: 7 to 15 digits, with or without '+', are international (1/1, sent without '+'); up to six digits are a
 * short code (npi 0, `shortCodeTon` 0, 3 or 6 by carrier); up to eleven characters with a letter are alphanumeric (5/0). Undefined for other
 * addresses.
 */
export function detectAddress(address: string, shortCodeTon: number = TON.UNKNOWN): SmppAddress | undefined {
  if (/^\+?\d{7,15}$/.test(address)) {
    return { ton: TON.INTERNATIONAL, npi: NPI.ISDN, addr: address.replace('+', '') }
  }
  if (/^\d+$/.test(address)) {
    if (address.length > SHORT_CODE_DIGITS_MAX) return undefined
    return { ton: shortCodeTon, npi: NPI.UNKNOWN, addr: address }
  }
  if (!ALPHANUMERIC.test(address)) return undefined
  return { ton: TON.ALPHANUMERIC, npi: NPI.UNKNOWN, addr: address }
}
