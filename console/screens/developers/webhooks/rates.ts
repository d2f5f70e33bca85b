import type { Series } from '@heliogram/sdk'

export interface Step {
  /** Milliseconds since 1970. */
  at: number
  succeeded: number
  failed: number
}

/** A strip has no room for more. */
const cellsMax = 60

const sum = (values: readonly number[]): number => values.reduce((all, one) => all + one, 0)

/** Totals of a webhook's posts, and steps wide enough for a strip. `rate` and `p95` are null without posts. */
export function healthOf({ counts, latency, since, step_seconds: seconds }: Series) {
  const { succeeded = [], failed = [] } = counts
  const start = Date.parse(since)
  const width = Math.max(1, Math.ceil(succeeded.length / cellsMax))
  const steps: Step[] = []
  for (let n = 0; n < succeeded.length; n += width)
    steps.push({
      at: start + n * seconds * 1000,
      succeeded: sum(succeeded.slice(n, n + width)),
      failed: sum(failed.slice(n, n + width)),
    })
  const [good, bad] = [sum(succeeded), sum(failed)]
  return {
    steps,
    times: succeeded.map((_, n) => start + n * seconds * 1000),
    succeeded: good,
    failed: bad,
    rate: good + bad === 0 ? null : good / (good + bad),
    p95: percentileOf(latency?.response.histogram ?? [], 0.95),
  }
}

/** The upper bound of the bucket that has it. */
function percentileOf(buckets: readonly { up_to_ms: number; count: number }[], part: number): number | null {
  const all = sum(buckets.map(({ count }) => count))
  let seen = 0
  for (const { up_to_ms, count } of buckets) {
    seen += count
    if (all > 0 && seen >= part * all) return up_to_ms
  }
  return null
}
