/** How a webhook has answered lately: success rate, a strip of states, and response times. */
import { useState } from 'react'
import { useCall } from '../../../api.ts'
import { Chart } from '../../../kit/chart.tsx'
import { Loaded, Section } from '../../../kit/page.tsx'
import { StateStrip, type Cell } from '../../../kit/pictures.tsx'
import { Figure, Figures, formatNumber } from '../../../kit/show.tsx'
import { healthOf, type Step } from './rates.ts'

const ranges = [
  ['10s', 'Hour'],
  ['1m', 'Day'],
  ['1h', 'Week'],
] as const

export function WebhookHealth({ id }: { id: string }) {
  const [step, setStep] = useState<(typeof ranges)[number][0]>('1m')
  const series = useCall('getSeries', { query: { by: 'webhook', id, step } }, { every: 10_000 })
  return (
    <Section
      title="Health"
      actions={
        <select
          aria-label="Range"
          value={step}
          onChange={({ target }) => setStep(ranges.find(([one]) => one === target.value)?.[0] ?? '1m')}
        >
          {ranges.map(([value, title]) => (
            <option key={value} value={value}>
              Last {title.toLowerCase()}
            </option>
          ))}
        </select>
      }
    >
      <Loaded call={series}>
        {(one) => {
          const { steps, times, succeeded, failed, rate, p95 } = healthOf(one)
          return (
            <div className="card webhook-health">
              <Figures>
                <Figure
                  label="success rate"
                  value={rate === null ? '–' : `${formatNumber(Math.floor(rate * 1000) / 10)}%`}
                  {...(rate !== null && rate < 0.95 && { tone: 'bad' })}
                />
                <Figure label="succeeded" value={formatNumber(succeeded)} />
                <Figure label="failed" value={formatNumber(failed)} {...(failed > 0 && { tone: 'bad' })} />
                <Figure label="p95 response time" value={p95 === null ? '–' : `${formatNumber(p95)} ms`} />
              </Figures>
              <StateStrip
                summary={`${formatNumber(succeeded)} succeeded, ${formatNumber(failed)} failed`}
                cells={steps.map(cellOf)}
              />
              <Chart
                label="Response time"
                times={times}
                unit=" ms"
                height={140}
                empty="No deliveries in this period"
                lines={[
                  { name: 'p50', colour: '--chart-accepted', values: one.latency?.response.p50_ms ?? [] },
                  { name: 'p95', colour: '--chart-delivered', values: one.latency?.response.p95_ms ?? [] },
                ]}
              />
            </div>
          )
        }}
      </Loaded>
    </Section>
  )
}

const cellOf = ({ at, succeeded, failed }: Step): Cell => ({
  colour: failed > 0 ? (succeeded > 0 ? 'warning' : 'bad') : succeeded > 0 ? 'good' : 'neutral',
  title: `${new Date(at).toLocaleTimeString()}: ${succeeded} succeeded, ${failed} failed`,
})
