import type { Series } from '@heliogram/sdk'
import { useCall } from '../../api.ts'
import { Chart } from '../../kit/chart.tsx'
import { Loaded, Section } from '../../kit/page.tsx'
import { RangeChoice, useRange, type Range } from '../../kit/ranges.tsx'
import { useZone } from './today.ts'

/** `rate`: messages a second now. */
export function Throughput({ rate }: { rate: number }) {
  const zone = useZone()
  const [range, choose] = useRange()
  const series = useCall(
    'getSeries',
    { query: { step: range.step, ...startOf(range) } },
    // It is never the same twice.
    { every: (answer) => (answer && isQuiet(answer) ? 2 * range.everyMs : range.everyMs) },
  )
  const perSecond = range.step === '10s'
  return (
    <Section
      title="Throughput"
      note={
        perSecond
          ? `messages per second · now ${rate.toLocaleString(undefined, { maximumFractionDigits: 1 })}/s`
          : range.step === '1m'
            ? 'messages per minute'
            : 'messages per hour'
      }
      actions={<RangeChoice range={range} onChange={choose} />}
    >
      <Loaded call={series}>
        {({ counts, since, step_seconds: step }) => {
          // Without the last short step, which is not over, and would look like a fall.
          const end = (counts.accepted?.length ?? 0) - (step < 3600 ? 1 : 0)
          const first = Math.max(0, end - Math.round(range.ms / 1000 / step))
          const scale = (values: readonly number[] = []) =>
            values.slice(first, end).map((value) => value / (perSecond ? step : 1))
          return (
            <Chart
              label="Throughput"
              zone={zone}
              {...(perSecond && { unit: '/s' })}
              times={scale(counts.accepted).map((_, n) => Date.parse(since) + (first + n) * step * 1000)}
              lines={[
                { name: 'Accepted', colour: '--chart-accepted', kind: 'dashed', values: scale(counts.accepted) },
                { name: 'Delivered', colour: '--chart-delivered', kind: 'area', values: scale(counts.delivered) },
                { name: 'Failed', colour: '--chart-failed', values: scale(counts.failed) },
              ]}
              empty={`No messages in the last ${range.title}`}
            />
          )
        }}
      </Loaded>
    </Section>
  )
}

/** The API's own start, or that of a day, so that the address stays the same. */
const startOf = ({ name, ms }: Range): { since?: string } =>
  name === '30d' ? { since: new Date(Date.now() - ms).toISOString().slice(0, 10) } : {}

const isQuiet = ({ counts }: Series): boolean => Object.values(counts).every((values) => values.at(-2) === 0)
