const timezones = new Map<string, boolean>()

// All three-letter names of the IANA database. ICU knows others, such as BST for Dhaka, with unexpected meanings.
const shortNames = new Set(['CET', 'EET', 'EST', 'GMT', 'HST', 'MET', 'MST', 'PRC', 'ROC', 'ROK', 'UCT', 'UTC', 'WET'])

/** Whether a text names an IANA time zone, or UTC. Offsets such as `+01:00` are not zones: they have no summer time. */
export function isTimezone(text: string): boolean {
  const known = timezones.get(text)
  if (known !== undefined) return known
  const isName = text.length === 3 ? shortNames.has(text.toUpperCase()) : /^[A-Za-z]/.test(text)
  const isKnown = isName && canFormat(text)
  // There are some 600 short names; more come from guessing.
  if (timezones.size < 2000) timezones.set(text, isKnown)
  return isKnown
}

function canFormat(timeZone: string): boolean {
  try {
    return Boolean(new Intl.DateTimeFormat('en', { timeZone }))
  } catch {
    // Intl throws RangeError for an unknown zone.
    return false
  }
}

const dayMs = 86_400_000

/**
 * When the clock of a zone shows a time, given as if it were UTC. If it shows the time twice, because it is put back, the second; a skipped
 * time moves later by the skip. No zone changes its clock twice in two days.
 */
export function timeIn(localMs: number, timeZone: string): Date {
  // Only Sweden's format can be parsed by Date.
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' })
  const aheadMs = (at: number): number => Date.parse(`${format.format(at).replace(' ', 'T')}Z`) - at
  const after = aheadMs(localMs + dayMs)
  const at = localMs - after
  return new Date(aheadMs(at) === after ? at : localMs - aheadMs(localMs - dayMs))
}
