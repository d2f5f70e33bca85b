const two = (value: number): string => String(value).padStart(2, '0')

/** `2026-11-24 01:07:53` in local time. */
export function localTime(iso: string | null | undefined): string | null {
  if (!iso) return null
  const at = new Date(iso)
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${clockTime(at)}`
}

/** `01:07:53`. */
export const clockTime = (at: Date): string => `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`

/** `01:07:53.374`. */
export const exactTime = (iso: string): string => {
  const at = new Date(iso)
  return `${clockTime(at)}.${String(at.getMilliseconds()).padStart(3, '0')}`
}

/** For people: `22 ms`, `1.6 s`, `4 min 5 s`, `3 h 2 min`, `2 d 4 h`. */
export function spanOf(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`
  if (ms < 60_000) return `${(Math.floor(ms / 100) / 10).toFixed(1)} s`
  const seconds = Math.floor(ms / 1000)
  const parts = [
    [Math.floor(seconds / 86_400), 'd'],
    [Math.floor(seconds / 3600) % 24, 'h'],
    [Math.floor(seconds / 60) % 60, 'min'],
    [seconds % 60, 's'],
  ] as const
  const first = parts.findIndex(([value]) => value > 0)
  return parts
    .slice(first, first + 2)
    .filter(([value]) => value > 0)
    .map(([value, unit]) => `${value} ${unit}`)
    .join(' ')
}
