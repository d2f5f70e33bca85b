/** Milliseconds with the long tail of real links: half are in the first eighth of the range. */
export interface Range {
  readonly min: number
  readonly max: number
}

export type PickDelay = () => number

/** For people. */
export const LATENCIES =
  '0, 30, 20-120, uniform:20-120, exponential:40 (half within 40) or lognormal:40-900 (half within 40, 99 of 100 within 900)'

/** Quantile 0.99 of the standard normal distribution. */
const Z99 = 2.3263

/** Milliseconds; an hour is as good as never. */
const DELAY_MAX = 3_600_000

/** Each shape by its one or two parameters. */
const SHAPES: Readonly<Record<string, (a: number, b: number) => PickDelay>> = {
  // 1 - x, because random() can be 0 but never 1.
  exponential: (median) => () => -Math.log2(1 - Math.random()) * median,
  lognormal: (median, p99) => () => median * (p99 / median) ** (pickNormal() / Z99),
  uniform: (min, max) => () => min + (max - min) * Math.random(),
  '': (min, max) => (min === max ? () => min : () => min + (max - min) * Math.random() ** 3),
}

/** Null if it is invalid. See LATENCIES. */
export function parseLatency(text: string): PickDelay | null {
  const match = /^(?:(exponential|lognormal|uniform):)?(\d{1,7})(?:-(\d{1,7}))?$/.exec(text)
  if (match === null) return null
  const [, shape = '', first = '', second] = match
  const [a, b] = [Number(first), Number(second ?? first)]
  const isWhole = shape === '' || (second === undefined) === (shape === 'exponential')
  if (!isWhole || a > b || (shape === 'lognormal' && a === 0)) return null
  const pick = SHAPES[shape]?.(a, b) ?? null
  return pick && (() => Math.min(DELAY_MAX, pick()))
}

/** The inverse of parseLatency. */
export function latencyOf(given: Range | string): string {
  return typeof given === 'string' ? given : `${given.min}-${given.max}`
}

/** Box-Muller transform. */
function pickNormal(): number {
  return Math.sqrt(-2 * Math.log(1 - Math.random())) * Math.cos(2 * Math.PI * Math.random())
}
