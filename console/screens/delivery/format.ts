/** Values as the screens of delivery write them. */

/** A length of time, in its largest unit that is not under one. */
export function formatSeconds(seconds: number | null | undefined): string {
  if (seconds === null || seconds === undefined) return '–'
  if (seconds < 1) return 'under 1 s'
  if (seconds < 120) return `${Math.round(seconds)} s`
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`
  if (seconds < 172_800) return `${Math.round(seconds / 3600)} h`
  return `${Math.round(seconds / 86_400)} days`
}

/** Percentiles of a latency, as `12 · 30 · 45 ms`. */
export const formatLatency = (times: { p50_ms: number; p95_ms: number; p99_ms: number } | null): string =>
  times ? `${times.p50_ms} · ${times.p95_ms} · ${times.p99_ms} ms` : '–'

/** What is written in a field with commas or blanks between, as a list. */
export const splitList = (text: string): string[] => text.split(/[\s,;]+/).filter((item) => item !== '')

/** A number of a field; what is none stays text, so that the API says so beside the field. */
export function readNumber(text: string): number {
  const value = Number(text.trim())
  // The API refuses what is no number, and names the field.
  return text.trim() === '' ? Number.NaN : value
}

/** Kinds of messages, as they are called here. */
export const typeNames = { otp: 'Codes', transactional: 'Transactional', marketing: 'Marketing' } as const

/** The same for a field in which one of them can be chosen. `none`: what an empty choice means. */
export const typeOptions = (none: string): [string, string][] => [['', none], ...Object.entries(typeNames)]
