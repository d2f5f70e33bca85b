/** What went to a carrier over time, and how long it took. */
import type { Carrier, Series } from '@heliogram/sdk'
import { useCall, useZone } from '../../../api.ts'
import { bucketsOf, Histogram } from '../../../kit/histogram.tsx'
import { Loaded, Section } from '../../../kit/page.tsx'
import { RangeChoice, useRange, type Range } from '../../../kit/ranges.tsx'
import { paceOf, SeriesChart, stepsOf, unitOf } from '../../../kit/series-chart.tsx'

function Traffic({ carrier }: { carrier: Carrier }) {
  const zone = useZone()
  const [range, choose] = useRange()
  const query = { by: 'carrier', id: carrier.id, ...stepsOf(range) } as const
  const series = useCall('getSeries', { query }, { every: paceOf(range) })
  return (
    <>
      <Section title="Throughput" note={unitOf(range)} actions={<RangeChoice range={range} onChange={choose} />}>
        <Loaded call={series}>
          {(data) => (
            <SeriesChart
              label={`Throughput of ${carrier.name}`}
              series={data}
              range={range}
              zone={zone}
              lines={[
                { name: 'Sent', colour: '--chart-sent', of: 'sent' },
                { name: 'Delivered', colour: '--chart-delivered', kind: 'area', of: 'delivered' },
                { name: 'Failed', colour: '--chart-failed', of: 'failed' },
              ]}
            />
          )}
        </Loaded>
      </Section>
      <div className="columns latencies">
        <Latency title="Response time" of={series.data?.latency?.response} range={range} />
        <Latency title="Time to receipt" of={series.data?.latency?.receipt} range={range} />
      </div>
    </>
  )
}

interface LatencyProps {
  title: string
  of: NonNullable<Series['latency']>['receipt']
  range: Range
}

function Latency({ title, of, range }: LatencyProps) {
  const { buckets, marks } = bucketsOf(of?.histogram ?? [])
  // Steps of 10 seconds come for a whole hour.
  const span = range.step === '10s' ? 'hour' : range.title
  return (
    <Section title={title} note={`last ${span}`}>
      {buckets.length === 0 ? (
        <p className="none">Nothing measured in the last {span}</p>
      ) : (
        <Histogram label={title} buckets={buckets} marks={marks} />
      )}
    </Section>
  )
}

export default Traffic
