import { DELIVERED, FATES, type Fate, type FatedReceipt } from './fate-table.ts'
import { plainNumber } from './numbers.ts'

/** The fate of all other numbers. */
export const ORDINARY: Fate = { recipient: 'any other', happens: 'Delivered.' }

const fateByRecipient = new Map(FATES.map((fate) => [fate.recipient, fate]))
const ENDING_DIGITS = 4

export function hasFate(recipient: string): boolean {
  return fateByRecipient.has(recipient)
}

/** By the digits of a destination_addr: the whole number first, then its last four digits. */
export function fateOf(recipient: string, ordinary = ''): Fate {
  const digits = plainNumber(recipient)
  const ending = digits.slice(-ENDING_DIGITS)
  return fateByRecipient.get(digits) ?? fateByRecipient.get(ending) ?? fateByRecipient.get(ordinary) ?? ORDINARY
}

/** In order; empty if no receipt ever comes. */
export function receiptsOf(fate: Fate): readonly FatedReceipt[] {
  const first = fate.receipt === undefined ? DELIVERED : fate.receipt
  return [first, fate.next ?? null].filter((receipt) => receipt !== null)
}
