/** How message ids are written: in submit responses and in receipts. */
export type IdFormat = 'decimal' | 'hex' | 'hex_decimal' | 'decimal_hex'

/** How a receipt writes its id, against its submit response. */
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

/** As wide as an unsigned number of 64 bits, which is how many carriers print theirs. */
const ZEROS_WIDTH = 20

/** The id as the submit response writes it. */
export function writeAnsweredId(id: number, format: IdFormat): string {
  return WRITINGS[format][0](id)
}

/** The id as the receipt writes it. Letters and their case are there only where a format has hexadecimal digits. */
export function writeReceiptedId(id: number, format: IdFormat, spelling: IdSpelling = 'same'): string {
  const write = WRITINGS[format][1]
  if (spelling === 'other_radix') return write === decimal ? hex(id) : decimal(id)
  if (spelling === 'upper_case') return hex(id).toUpperCase()
  return spelling === 'leading_zeros' ? write(id).padStart(ZEROS_WIDTH, '0') : write(id)
}

/**
 * Numbers messages from the microsecond on which the simulator started: as it takes fewer than a million a second, the
 * next start takes none of them again.
 */
export function createMessageIds(): () => number {
  let last = Date.now() * 1_000
  return () => ++last
}
