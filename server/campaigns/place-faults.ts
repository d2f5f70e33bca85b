/** The error for a time zone that does not exist. */
import type { FieldError } from '../ground/base/errors.ts'

/** A time zone that does not exist. */
export const timezoneError = (pointer: string): FieldError => ({
  pointer,
  code: 'invalid_value',
  detail: 'must be a time zone of the IANA database, such as Europe/London',
})
