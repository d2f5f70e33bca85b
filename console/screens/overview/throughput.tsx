import { useCall, useZone } from '../../api.ts'
import { Loaded, Section } from '../../kit/page.tsx'
import { RangeChoice, useRange } from '../../kit/ranges.tsx'
import { paceOf, SeriesChart, stepsOf, unitOf } from '../../kit/series-chart.tsx'

/** `rate`: messages a second now. */
export function Throughput({ rate }: { rate: number }) {
  const zone = useZone()
  const [range, choose] = useRange()
  const series = useCall('getSeries', { query: stepsOf(range) }, { every: paceOf(range) })
  const now = ` · now ${rate.toLocaleString(undefined, { maximumFractionDigits: 1 })}/s`
  return (
    <Section
      title="Throughput"
      note={`${unitOf(range)}${range.step === '10s' ? now : ''}`}
      actions={<RangeChoice range={range} onChange={choose} />}
    >
      <Loaded call={series}>
        {(data) => (
          <SeriesChart
            label="Throughput"
            series={data}
            range={range}
            zone={zone}
            lines={[
              { name: 'Accepted', colour: '--chart-accepted', kind: 'dashed', of: 'accepted' },
              { name: 'Delivered', colour: '--chart-delivered', kind: 'area', of: 'delivered' },
              { name: 'Failed', colour: '--chart-failed', of: 'failed' },
            ]}
          />
        )}
      </Loaded>
    </Section>
  )
}
