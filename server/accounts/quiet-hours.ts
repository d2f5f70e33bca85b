/** Quiet hours of an account or a campaign: its messages, mostly marketing, wait until morning at the recipient. */
import type { FieldError } from '../ground/base/errors.ts'
import { accountSettings, checkTimezone, type QuietHours, type QuietHoursChange } from './account-settings.ts'

const { enabled, start, end, applies_to, fallback_timezone } = accountSettings.quiet_hours
const defaults: QuietHours = {
  enabled: enabled.fallback,
  start: start.fallback,
  end: end.fallback,
  applies_to: applies_to.fallback,
  fallback_timezone: fallback_timezone.fallback,
}

/** Merges from general to specific, over the defaults. */
export function mergeQuietHours(...given: readonly (QuietHoursChange | null)[]): QuietHours {
  return given.reduce<QuietHours>((all, one) => ({ ...all, ...one }), defaults)
}

/** `change` is the request, `merged` its result. */
export function checkQuietHours(change: QuietHoursChange, merged: QuietHours): FieldError[] {
  const [changed, other] = change.end === undefined ? ['start', 'end'] : ['end', 'start']
  if (merged.start !== merged.end) return []
  return [{ pointer: `#/quiet_hours/${changed}`, code: 'invalid_value', detail: `must differ from ${other}` }]
}

/** For a campaign that overrides its account: start and end must be set together. */
export function checkOwnQuietHours(change: QuietHoursChange): FieldError[] {
  if ((change.start === undefined) !== (change.end === undefined))
    return [{ pointer: '#/quiet_hours', code: 'invalid_value', detail: 'needs both start and end, or neither' }]
  const zone = change.fallback_timezone
  const faults = zone === undefined ? [] : checkTimezone(zone, '#/quiet_hours/fallback_timezone')
  return [...checkQuietHours(change, mergeQuietHours(change)), ...faults]
}
