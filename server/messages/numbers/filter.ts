/** Numbers by which lists are filtered: read as they are where they come from, so that a slip is told and does not find nothing. */
import type { FieldError } from '../../errors.ts'
import { readSender } from '../accept/draft.ts'
import { readNumber } from './number.ts'

/**
 * What a number may be. A `recipient` is what a send takes. Who writes may be more, an `address`: a short code, a name, or a national number
 * of a carrier that does not say its country.
 */
type Form = 'recipient' | 'address'

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
  const read = form === 'address' ? readSender(text) : readNumber(text)
  if (typeof read === 'string') return read
  if ('number' in read) return read.number
  faults.push({ ...read, pointer: `?${name}` })
  return null
}
