/** Times on a wall clock of a zone: `2026-11-28T09:00`. */

const clocks = new Map<string, Intl.DateTimeFormat>()

/** @throws RangeError if the zone is unknown */
function clockOf(zone: string): Intl.DateTimeFormat {
  const known = clocks.get(zone)
  if (known) return known
  const clock = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'short' })
  clocks.set(zone, clock)
  return clock
}

export function isZone(zone: string): boolean {
  try {
    clockOf(zone)
    return true
  } catch {
    return false
  }
}

export const wallTime = (at: Date, zone: string): string => clockOf(zone).format(at).replace(' ', 'T')

/** The moment, as the API takes it. In an hour that a clock skips or repeats: the later one. Invalid times stay, for the API to refuse. */
export function momentIn(zone: string, local: string): string {
  const wall = Date.parse(`${local}Z`)
  if (Number.isNaN(wall) || !isZone(zone)) return local
  const offsetAt = (at: number): number => Date.parse(`${wallTime(new Date(at), zone)}Z`) - at
  const first = wall - offsetAt(wall)
  return new Date(wall - offsetAt(first)).toISOString()
}

const dayMs = 86_400_000

/** Times that people choose most, on the clock of the zone. */
export function presetsOf(now: Date, zone: string): { name: string; local: string }[] {
  const local = wallTime(now, zone)
  const midnight = Date.parse(`${local.slice(0, 10)}Z`)
  const nineIn = (days: number): string => `${new Date(midnight + days * dayMs).toISOString().slice(0, 10)}T09:00`
  const tillMonday = (8 - new Date(midnight).getUTCDay()) % 7 || 7
  return [
    { name: 'In an hour', local: wallTime(new Date(now.getTime() + 3_600_000), zone) },
    { name: 'Tomorrow 9:00', local: nineIn(1) },
    ...(tillMonday === 1 ? [] : [{ name: 'Monday 9:00', local: nineIn(tillMonday) }]),
  ]
}
