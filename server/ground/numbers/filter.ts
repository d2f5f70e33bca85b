/** Numbers in filters of lists, read as strictly as in sends: a typing error is reported instead of matching nothing. */
import type { FieldError } from '../base/errors.ts'
import { readSender } from './sender.ts'
import { currentNumber, readNumber } from './number.ts'

/**
 * A `recipient` is any number that a send accepts. A `person` may also be a short code, a name, or a national number from a carrier that states no
 * country. An `address` of ours may be all of these, as the operator wrote it.
 */
type Form = 'recipient' | 'person' | 'address'

/** Reads a query field, or returns null and adds its error. */
export function readNumberFilter(
  name: string,
  given: string | undefined,
  form: Form,
  faults: FieldError[],
): string | null {
  if (given === undefined) return null
  // An unescaped plus sign is a blank in a query string.
  const text = given.trim()
  const read = form === 'recipient' ? readNumber(text) : readSender(text)
  if (typeof read === 'string') return form === 'person' ? currentNumber(read) : read
  if ('number' in read) return read.number
  faults.push({ ...read, pointer: `?${name}` })
  return null
}
