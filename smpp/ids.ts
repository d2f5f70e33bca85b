/**
 * How a carrier writes a message id in receipts, against its submit responses: the same; or in receipts as hexadecimal
 * where responses are decimal (`hex-to-dec`); or the reverse (`dec-to-hex`); or as the same number with other zeros in
 * front, capitals or 0x (`hex`, `dec`).
 */
export type IdForm = 'raw' | 'hex-to-dec' | 'dec-to-hex' | 'hex' | 'dec'

/** The radix of ids in receipts and in submit responses. */
const RADIXES: Readonly<Record<Exclude<IdForm, 'raw'>, readonly [receipt: 10 | 16, response: 10 | 16]>> = {
  'hex-to-dec': [16, 10],
  'dec-to-hex': [10, 16],
  hex: [16, 16],
  dec: [10, 10],
}

/** Long enough for a 256-bit number; a longer word is no number, and would be slow to turn into one. */
const HEX = /^(?:0x)?[0-9a-f]{1,64}$/i
const DECIMAL = /^[0-9]{1,78}$/

/**
 * The id of a receipt in the form of the carrier's submit responses, to look it up by. Raw ids are not touched, not their
 * zeros nor their case; numbers become canonical: decimal, or lower-case hexadecimal, without leading zeros. A word that
 * is no such number stays as it is.
 */
export function normaliseId(rawId: string, form: IdForm): string {
  if (form === 'raw') return rawId
  const [receipt, response] = RADIXES[form]
  return toNumber(rawId, receipt)?.toString(response) ?? rawId
}

/** The id of a submit response as normaliseId gives the ids of its receipts: store it under this. */
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
 * Every other id that a receipt's could stand for, to find out which form a carrier uses: the stored ids that these match
 * name it. Upper case and the usual zero padding to eight hexadecimal digits are tried as well.
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
