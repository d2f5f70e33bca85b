/** Quiet hours of an account: its messages, mostly marketing, wait until morning at the recipient. */
import { Type, type Static } from 'typebox'
import type { FieldError } from '../ground/base/errors.ts'
import { isTimezone } from '../ground/base/timezone.ts'

const time = (description: string) =>
  Type.String({ description, pattern: '^([01][0-9]|2[0-3]):[0-5][0-9]$', examples: ['21:00'] })

export const QuietHours = Type.Object({
  enabled: Type.Boolean(),
  start: time("In the recipient's time zone."),
  end: time('The first minute after the quiet hours; on the next day if it is before `start`.'),
  applies_to: Type.Array(Type.Enum(['marketing', 'transactional']), {
    description: 'Types of messages. One-time passwords are never held.',
    minItems: 1,
    uniqueItems: true,
  }),
  fallback_timezone: Type.String({
    description: 'IANA time zone for recipients whose own is unknown and whose number belongs to no country.',
    examples: ['Europe/London'],
  }),
})
export type QuietHours = Static<typeof QuietHours>

/** Missing fields stay, or inherit from the account. */
export const QuietHoursChange = Type.Object(Type.Partial(QuietHours).properties, {
  additionalProperties: false,
  minProperties: 1,
})
export type QuietHoursChange = Static<typeof QuietHoursChange>

// United States telemarketing rules forbid 21:00 to 08:00 (47 CFR §64.1200).
const defaults: QuietHours = {
  enabled: false,
  start: '21:00',
  end: '08:00',
  applies_to: ['marketing'],
  fallback_timezone: 'UTC',
}

/** Merges from general to specific, over the defaults. */
export function mergeQuietHours(...said: readonly (QuietHoursChange | null)[]): QuietHours {
  return said.reduce<QuietHours>((all, one) => ({ ...all, ...one }), defaults)
}

/** Faults that the schema cannot find; `change` is the request, `merged` its result. */
export function checkQuietHours(change: QuietHoursChange, merged: QuietHours): FieldError[] {
  const errors: FieldError[] = []
  const [said, other] = change.end === undefined ? ['start', 'end'] : ['end', 'start']
  if (merged.start === merged.end)
    errors.push({
      pointer: `#/quiet_hours/${said}`,
      code: 'invalid_value',
      detail: `must differ from ${other}`,
    })
  if (change.fallback_timezone !== undefined && !isTimezone(change.fallback_timezone))
    errors.push({
      pointer: '#/quiet_hours/fallback_timezone',
      code: 'invalid_value',
      detail: 'must be a time zone of the IANA database, such as Europe/London',
    })
  return errors
}

/** Like `checkQuietHours`, for a campaign that overrides its account: start and end must be set together. */
export function checkOwnQuietHours(change: QuietHoursChange): FieldError[] {
  const errors = checkQuietHours(change, mergeQuietHours(change))
  if ((change.start === undefined) === (change.end === undefined)) return errors
  return [{ pointer: '#/quiet_hours', code: 'invalid_value', detail: 'needs both start and end, or neither' }]
}
