/** Time zones, as the runtime's own tables (ICU) know them. */

const timezones = new Map<string, boolean>()

// All names of the IANA database with three letters. ICU knows other ones, such as BST for Dhaka, which nobody else understands so.
const shortNames = new Set(['CET', 'EET', 'EST', 'GMT', 'HST', 'MET', 'MST', 'PRC', 'ROC', 'ROK', 'UCT', 'UTC', 'WET'])

/** Says that a text names a time zone of the IANA database, or UTC. Offsets such as `+01:00` are not zones: they have no summer time. */
export function isTimezone(text: string): boolean {
  const known = timezones.get(text)
  if (known !== undefined) return known
  const isName = text.length === 3 ? shortNames.has(text.toUpperCase()) : /^[A-Za-z]/.test(text)
  const isKnown = isName && canFormat(text)
  // A name of a zone is short and there are some 600; anything beyond is somebody trying names.
  if (timezones.size < 2000) timezones.set(text, isKnown)
  return isKnown
}

function canFormat(timeZone: string): boolean {
  try {
    return Boolean(new Intl.DateTimeFormat('en', { timeZone }))
  } catch {
    // RangeError is the only way in which Intl says that it does not know a zone.
    return false
  }
}

const dayMs = 86_400_000

/**
 * When the clock of a zone shows a time, which is given as if it were UTC. Where the clock shows it twice, because it is put back, the
 * second time; what it leaves out when it is put forward is later by as much. No zone changes its clock twice in two days.
 */
export function timeIn(localMs: number, timeZone: string): Date {
  // Of all forms that Intl knows it is that of Sweden which a Date reads.
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' })
  const aheadMs = (at: number): number => Date.parse(`${format.format(at).replace(' ', 'T')}Z`) - at
  const after = aheadMs(localMs + dayMs)
  const at = localMs - after
  return new Date(aheadMs(at) === after ? at : localMs - aheadMs(localMs - dayMs))
}
