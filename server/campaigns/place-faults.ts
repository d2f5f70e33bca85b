import type { FieldError } from '../ground/base/errors.ts'

export const timezoneError = (pointer: string): FieldError => ({
  pointer,
  code: 'invalid_value',
  detail: 'must be a time zone of the IANA database, such as Europe/London',
})
