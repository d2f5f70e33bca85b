/** Milliseconds from `min` to `max`. */
export interface Range {
  readonly min: number
  readonly max: number
}

/**
 * Picks a delay: half of them in the first eighth of the range, as latencies of real links have a long tail. So 15-260
 * has its median at 45.
 */
export function pickDelayMs(range: Range): number {
  return range.min + (range.max - range.min) * Math.random() ** 3
}

/** Reads `800-2000` or `30` as milliseconds; null when it is neither. */
export function parseRange(text: string): Range | null {
  const match = /^(\d{1,7})(?:-(\d{1,7}))?$/.exec(text)
  if (match === null) return null
  const min = Number(match[1])
  const max = Number(match[2] ?? match[1])
  return min <= max ? { min, max } : null
}
