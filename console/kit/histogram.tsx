/** How many took how long. */
import type { Series } from '@heliogram/sdk'
import { percent, share } from './pictures.tsx'
import { formatNumber } from './show.tsx'

interface Bucket {
  /** `50–100 ms`. */
  title: string
  count: number
}

/** `marks`: names for buckets, such as p50 and p95, by their place. */
export function Histogram({
  label,
  buckets,
  marks = {},
}: {
  label: string
  buckets: readonly Bucket[]
  marks?: Record<number, string>
}) {
  const most = Math.max(0, ...buckets.map(({ count }) => count))
  return (
    <figure className="histogram">
      <div
        role="img"
        aria-label={`${label}: ${buckets.map(({ title, count }) => `${title}: ${formatNumber(count)}`).join(', ')}`}
      >
        {buckets.map(({ title, count }, n) => (
          <span key={title} className="column" title={`${title}: ${formatNumber(count)}`}>
            {marks[n] && <small>{marks[n]}</small>}
            {count > 0 && <span className="fill-sent" style={{ height: `max(2px, ${percent(share(count, most))})` }} />}
          </span>
        ))}
      </div>
      <div className="chart-ends">
        <span>{buckets[0]?.title}</span>
        <span>{buckets.at(-1)?.title}</span>
      </div>
    </figure>
  )
}

type Measured = NonNullable<Series['latency']>['response']['histogram']

/** Buckets for a histogram, with the ones of p50 and p95 marked. */
export function bucketsOf(measured: Measured): { buckets: Bucket[]; marks: Record<number, string> } {
  const total = measured.reduce((sum, { count }) => sum + count, 0)
  const placeOf = (part: number): number => {
    let seen = 0
    return measured.findIndex(({ count }) => (seen += count) >= total * part)
  }
  const [median, late] = [placeOf(0.5), placeOf(0.95)]
  return {
    buckets: measured.map(({ up_to_ms, count }) => ({ title: `≤ ${tellMs(up_to_ms)}`, count })),
    marks: total === 0 ? {} : median === late ? { [median]: 'p50, p95' } : { [median]: 'p50', [late]: 'p95' },
  }
}

/** `64 ms`, `2.1 s`, `4.5 min`. */
function tellMs(ms: number): string {
  if (ms < 1000) return `${formatNumber(ms)} ms`
  const [value, unit] = ms < 60_000 ? [ms / 1000, 's'] : [ms / 60_000, 'min']
  return `${formatNumber(Math.round(value * 10) / 10)} ${unit}`
}
