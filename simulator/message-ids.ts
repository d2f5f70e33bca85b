/** The form of message ids in submit responses and receipts. */
export type IdFormat = 'decimal' | 'hex' | 'hex_decimal' | 'decimal_hex'

/** The form of a receipt's id, compared with its submit response. */
export type IdSpelling = 'same' | 'other_radix' | 'upper_case' | 'leading_zeros'

type Writing = (id: number) => string
const decimal: Writing = (id) => String(id)
const hex: Writing = (id) => id.toString(16)

const WRITINGS: Readonly<Record<IdFormat, readonly [answered: Writing, receipted: Writing]>> = {
  decimal: [decimal, decimal],
  hex: [hex, hex],
  hex_decimal: [hex, decimal],
  decimal_hex: [decimal, hex],
}

/** The width of an unsigned 64-bit number, as many carriers print it. */
const ZEROS_WIDTH = 20

export function writeAnsweredId(id: number, format: IdFormat): string {
  return WRITINGS[format][0](id)
}

/** Letters and their case matter only in formats with hexadecimal digits. */
export function writeReceiptedId(id: number, format: IdFormat, spelling: IdSpelling = 'same'): string {
  const write = WRITINGS[format][1]
  if (spelling === 'other_radix') return write === decimal ? hex(id) : decimal(id)
  if (spelling === 'upper_case') return hex(id).toUpperCase()
  return spelling === 'leading_zeros' ? write(id).padStart(ZEROS_WIDTH, '0') : write(id)
}

/** Numbers messages from the microsecond of the start: below a million a second, restarts never reuse one. */
export function createMessageIds(): () => number {
  let last = Date.now() * 1_000
  return () => ++last
}
