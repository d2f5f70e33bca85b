/** Messages a second from the start of a broadcast to its last receipts. */
import type { Broadcast } from '@heliogram/sdk'
import { useCall } from '../../../api.ts'
import { Chart, type Line } from '../../../kit/chart.tsx'
import { Section } from '../../../kit/page.tsx'
import { isUnderWay } from '../states.ts'

const lines = [
  ['sent', 'Sent', 'area'],
  ['delivered', 'Delivered', 'line'],
  ['failed', 'Failed', 'line'],
] as const

const hourMs = 3_600_000
/** Most receipts have come by then. */
const afterMs = 120_000

export function OverTime({ broadcast: { id, status, started_at: from, completed_at: to } }: { broadcast: Broadcast }) {
  const isLive = isUnderWay(status)
  const agoMs = from === null ? 0 : Date.now() - Date.parse(from)
  // The finest steps that are kept for so long.
  const step = agoMs < hourMs ? '10s' : agoMs < 24 * hourMs ? '1m' : '1h'
  const until = to === null ? undefined : new Date(Math.min(Date.now(), Date.parse(to) + afterMs)).toISOString()
  const series = useCall(
    'getSeries',
    { query: { by: 'broadcast', id, step, ...(from && { since: from }), ...(!isLive && until && { until }) } },
    { isSide: true, enabled: from !== null, every: () => (isLive ? 5000 : undefined) },
  )
  if (!series.data) return null
  const { counts, since, step_seconds: seconds } = series.data
  // The last step of a running broadcast is not over, and would look like a fall.
  const whole = (values: number[] = []) => (isLive ? values.slice(0, -1) : values)
  const times = whole(counts.sent).map((_, n) => Date.parse(since) + n * seconds * 1000)
  if (times.length < 2) return null
  return (
    <Section title="Messages over time">
      <Chart
        label="Messages per second"
        unit="/s"
        times={times}
        lines={lines.map(([name, title, kind]): Line => ({
          name: title,
          colour: `--chart-${name}`,
          values: whole(counts[name]).map((count) => count / seconds),
          kind,
        }))}
      />
    </Section>
  )
}
