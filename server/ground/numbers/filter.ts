/** Numbers by which lists are filtered: read as they are where they come from, so that a slip is told and does not find nothing. */
import type { FieldError } from '../base/errors.ts'
import { readSender } from './sender.ts'
import { currentNumber, readNumber } from './number.ts'

/**
 * What a number may be. A `recipient` is what a send takes. A `person` who writes may be more: a short code, a name, or a national number of a
 * carrier that does not say its country. So may an `address` of ours, which is as the operator wrote it.
 */
type Form = 'recipient' | 'person' | 'address'

/** The number that a query field names, or null; adds what is wrong with it. */
export function readNumberFilter(
  name: string,
  given: string | undefined,
  form: Form,
  faults: FieldError[],
): string | null {
  if (given === undefined) return null
  // A plus sign that was not escaped is a blank in a query string.
  const text = given.trim()
  const read = form === 'recipient' ? readNumber(text) : readSender(text)
  if (typeof read === 'string') return form === 'person' ? currentNumber(read) : read
  if ('number' in read) return read.number
  faults.push({ ...read, pointer: `?${name}` })
  return null
}
