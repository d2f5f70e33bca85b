import { InvalidArgumentError } from 'commander'

const units: Record<string, number> = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 }

/** Seconds of `90`, `90s`, `5m`, `2h`, `3d`, `1w`. @throws InvalidArgumentError */
export function readSpan(text: string): number {
  const [, number, unit = 's'] = /^(\d{1,9})([smhdw])?$/.exec(text.trim()) ?? []
  if (number === undefined) throw new InvalidArgumentError('It must be a span such as 30s, 10m, 2h or 3d.')
  return Number(number) * (units[unit] ?? 1)
}

/** A past time: an age (`2h`), RFC 3339, or local (`2026-11-24`, `2026-11-24 18:30`). @throws InvalidArgumentError */
export const readPast = (text: string): string => readMoment(text, -1)

/** A future time: `2h` is in two hours. @throws InvalidArgumentError */
export const readFuture = (text: string): string => readMoment(text, 1)

function readMoment(text: string, direction: 1 | -1): string {
  const trimmed = text.trim()
  if (/^\d+[smhdw]$/.test(trimmed)) return new Date(Date.now() + direction * readSpan(trimmed) * 1000).toISOString()
  const [, date, time] = /^(\d{4}-\d\d-\d\d)(?:[ T](\d\d:\d\d(?::\d\d)?))?$/.exec(trimmed) ?? []
  const isWhole = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/.test(trimmed)
  // Without a zone JavaScript reads a date as UTC, but a date with a time as local.
  const at = date !== undefined ? new Date(`${date}T${time ?? '00:00'}`) : isWhole ? new Date(trimmed) : null
  if (at === null || Number.isNaN(at.getTime()))
    throw new InvalidArgumentError(
      'It must be a span such as 2h, or a time such as "2026-11-24 18:30" or 2026-11-24T18:30:00Z.',
    )
  return at.toISOString()
}
