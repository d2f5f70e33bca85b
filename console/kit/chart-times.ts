/** Times below a chart, and of a step under its cursor. */

const formats = new Map<string, Intl.DateTimeFormat>()

function format(options: Intl.DateTimeFormatOptions, zone: string | undefined, ms: number): string {
  const key = `${Object.keys(options).join()} ${zone}`
  const made = formats.get(key) ?? new Intl.DateTimeFormat(undefined, { ...options, ...(zone && { timeZone: zone }) })
  formats.set(key, made)
  return made.format(ms)
}

const dayS = 86_400

/** `stepS`: seconds between two ticks. */
export const formatTick = (ms: number, stepS: number, zone?: string): string =>
  stepS >= dayS
    ? format({ month: 'short', day: 'numeric' }, zone, ms)
    : format({ hour: 'numeric', minute: '2-digit', ...(stepS < 60 && { second: '2-digit' }) }, zone, ms)

/** The start of a step: with seconds if it is shorter than a minute, with the day if not, and a day as a date. */
export function tellStep(ms: number | undefined, stepMs: number, zone?: string): string {
  if (ms === undefined || Number.isNaN(ms)) return ''
  const day: Intl.DateTimeFormatOptions = stepMs >= 60_000 ? { weekday: 'short', month: 'short', day: 'numeric' } : {}
  const seconds: Intl.DateTimeFormatOptions = stepMs < 60_000 ? { second: '2-digit' } : {}
  const time: Intl.DateTimeFormatOptions =
    stepMs < dayS * 1000 ? { hour: 'numeric', minute: '2-digit', ...seconds } : {}
  return format({ ...day, ...time }, zone, ms)
}
