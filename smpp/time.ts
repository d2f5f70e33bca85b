// Messages accepted together mostly expire together, so the last result is reused.
const last = { ms: Number.NaN, text: '' }

/** An absolute time in UTC, YYMMDDhhmmsst00+, for validity_period and the like. SMPP 3.4 §7.1.1. */
export function formatAbsoluteTime(instant: Date): string {
  const ms = instant.getTime()
  if (ms !== last.ms) {
    const iso = instant.toISOString()
    const digits = iso.slice(2, 19).replaceAll(/\D/g, '')
    last.text = `${digits}${iso.charAt(20)}00+`
    last.ms = ms
  }
  return last.text
}

const SECOND_MS = 1_000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

/** A relative time, YYMMDDhhmmss000R, rounded up to a second. SMPP 3.4 §7.1.2. At most 99 days, as days, because a month has no fixed length. */
export function formatRelativeTime(spanMs: number): string {
  const seconds = Math.min(Math.ceil(Math.max(0, spanMs) / SECOND_MS), (99 * DAY_MS) / SECOND_MS)
  const parts = [
    Math.floor(seconds / 86_400),
    Math.floor(seconds / 3_600) % 24,
    Math.floor(seconds / 60) % 60,
    seconds % 60,
  ]
  return `0000${parts.map((part) => String(part).padStart(2, '0')).join('')}000R`
}

const TIME = /^(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(\d)(\d\d)([+\-R])$/

/**
 * Reads an absolute or relative time of 16 characters; a relative one counts from `now`. Undefined for '' (the server's default) and invalid
 * times. Years are 2000 to 2099. SMPP 3.4 §7.1.
 */
export function parseTime(text: string, now: Date): Date | undefined {
  const match = TIME.exec(text)
  if (match === null) return undefined
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0, tenth = 0, quarters = 0] = match
    .slice(1, 9)
    .map(Number)
  const sign = match[9]
  if (sign === 'R') {
    const time = new Date(now)
    time.setUTCFullYear(time.getUTCFullYear() + year, time.getUTCMonth() + month, time.getUTCDate() + day)
    return new Date(time.getTime() + hour * HOUR_MS + minute * MINUTE_MS + second * SECOND_MS)
  }
  if (month < 1 || month > 12 || day < 1 || hour > 23 || minute > 59 || second > 59 || quarters > 48) return undefined
  const local = new Date(Date.UTC(2000 + year, month - 1, day, hour, minute, second, tenth * 100))
  if (local.getUTCDate() !== day) return undefined
  // The offset is how far local time is ahead of UTC, in quarters of an hour.
  const offsetMs = quarters * 15 * MINUTE_MS
  return new Date(local.getTime() - (sign === '+' ? offsetMs : -offsetMs))
}
