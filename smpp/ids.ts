/**
 * How a carrier writes a message id in receipts, compared with its submit responses: the same (`raw`); hexadecimal where responses are decimal
 * (`hex-to-dec`); the reverse (`dec-to-hex`); or the same number with other leading zeros, case or 0x (`hex`, `dec`).
 */
export type IdForm = 'raw' | 'hex-to-dec' | 'dec-to-hex' | 'hex' | 'dec'

const RADIXES: Readonly<Record<Exclude<IdForm, 'raw'>, readonly [receipt: 10 | 16, response: 10 | 16]>> = {
  'hex-to-dec': [16, 10],
  'dec-to-hex': [10, 16],
  hex: [16, 16],
  dec: [10, 10],
}

/** Enough for a 256-bit number; longer words are not numbers, and slow to convert. */
const HEX = /^(?:0x)?[0-9a-f]{1,64}$/i
const DECIMAL = /^[0-9]{1,78}$/

/**
 * Converts a receipt's id to the form of the carrier's submit responses, for lookup. Raw ids keep zeros and case; numbers become canonical:
 * decimal, or lower-case hexadecimal, without leading zeros. Other words stay unchanged.
 */
export function normaliseId(rawId: string, form: IdForm): string {
  if (form === 'raw') return rawId
  const [receipt, response] = RADIXES[form]
  return toNumber(rawId, receipt)?.toString(response) ?? rawId
}

export function responseIdKey(rawId: string, form: IdForm): string {
  if (form === 'raw') return rawId
  const [, response] = RADIXES[form]
  return toNumber(rawId, response)?.toString(response) ?? rawId
}

function toNumber(rawId: string, radix: 10 | 16): bigint | null {
  if (radix === 10) return DECIMAL.test(rawId) ? BigInt(rawId) : null
  return HEX.test(rawId) ? BigInt(rawId.startsWith('0x') || rawId.startsWith('0X') ? rawId : `0x${rawId}`) : null
}

/**
 * All other ids that a receipt's id could mean. The stored ids that match reveal the carrier's form. Includes upper case and the usual padding to
 * eight hexadecimal digits.
 */
export function receiptIdForms(rawId: string): { form: IdForm; id: string }[] {
  const forms: { form: IdForm; id: string }[] = [{ form: 'raw', id: rawId }]
  const decimal = normaliseId(rawId, 'hex-to-dec')
  const hex = normaliseId(rawId, 'dec-to-hex')
  if (HEX.test(rawId))
    forms.push({ form: 'hex-to-dec', id: decimal }, { form: 'hex-to-dec', id: decimal.padStart(10, '0') })
  if (DECIMAL.test(rawId)) {
    for (const id of [hex, hex.padStart(8, '0')]) {
      forms.push({ form: 'dec-to-hex', id }, { form: 'dec-to-hex', id: id.toUpperCase() })
    }
  }
  const seen = new Set<string>()
  return forms.filter(({ id }) => !seen.has(id) && seen.add(id))
}
