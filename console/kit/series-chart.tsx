/** Counts of a series over the chosen range. */
import type { Series } from '@heliogram/sdk'
import { Chart, type Line } from './chart.tsx'
import type { Range } from './ranges.tsx'

interface SeriesChartProps {
  label: string
  series: Series
  range: Range
  zone: string | undefined
  lines: readonly (Pick<Line, 'name' | 'colour' | 'kind'> & { of: keyof Series['counts'] })[]
}

export function SeriesChart({ label, series: { counts, since, step_seconds }, range, zone, lines }: SeriesChartProps) {
  const perSecond = range.step === '10s'
  const length = Math.max(0, ...Object.values(counts).map((values) => values.length))
  // Without the last short step, which is not over, and would look like a fall.
  const end = length - (step_seconds < 3600 ? 1 : 0)
  const first = Math.max(0, end - Math.round(range.ms / 1000 / step_seconds))
  return (
    <Chart
      label={label}
      zone={zone}
      {...(perSecond && { unit: '/s' })}
      times={Array.from({ length: end - first }, (_, n) => Date.parse(since) + (first + n) * step_seconds * 1000)}
      lines={lines.map(({ of, ...line }) => ({
        ...line,
        values: (counts[of] ?? []).slice(first, end).map((value) => value / (perSecond ? step_seconds : 1)),
      }))}
      empty={`No messages in the last ${range.title}`}
    />
  )
}

/** What one point of the chart counts. */
export const unitOf = ({ step }: Range): string =>
  ({ '10s': 'messages per second', '1m': 'messages per minute', '1h': 'messages per hour' })[step]

/** The API's own start, or that of a day, so that the address stays the same. */
export const stepsOf = ({ name, step, ms }: Range) => ({
  step,
  ...(name === '30d' && { since: new Date(Date.now() - ms).toISOString().slice(0, 10) }),
})

/** How often to ask: less often while nothing moves. It is never the same twice. */
export const paceOf =
  ({ everyMs }: Range) =>
  (answer: Series | undefined): number =>
    answer && Object.values(answer.counts).every((values) => values.at(-2) === 0) ? 2 * everyMs : everyMs
