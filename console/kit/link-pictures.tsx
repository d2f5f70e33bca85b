/** How full and how fast a link is, and its last half hour. */
import type { Link, Series } from '@heliogram/sdk'
import { tellStep } from './chart-times.ts'
import { Gauge, StateStrip, type Cell } from './pictures.tsx'
import { formatNumber } from './show.tsx'

export const minutes = 30

export const WindowGauge = ({ of }: { of: Link }) => (
  <Gauge label="Window in use" value={of.in_flight} max={of.window} />
)

export const RateGauge = ({ of }: { of: Link }) => (
  <Gauge label="Segments a second" value={of.rate_1m} max={of.pace}>
    {formatNumber(of.rate_1m)} / {formatNumber(of.pace)} per s
  </Gauge>
)

/** The query of the half hour. Its start is of ten minutes, so that the address stays the same for a while. */
export const halfHourOf = ({ id }: Link) =>
  ({
    by: 'link',
    id,
    step: '1m',
    since: new Date(Math.floor(Date.now() / 600_000 - minutes / 10) * 600_000).toISOString(),
  }) as const

interface StripProps {
  link: Link
  /** Of `halfHourOf`; undefined until it is there. */
  series: Series | undefined
  zone: string | undefined
}

export function LinkStrip({ link, series, zone }: StripProps) {
  const last = (values: readonly number[] = []) => values.slice(-minutes)
  const { counts, states, until = '' } = series ?? {}
  const [sent, failed] = [last(counts?.sent), last(counts?.failed)]
  const [down, throttled] = [last(states?.down_seconds), last(states?.throttled_seconds)]
  const cells = sent.map((count, n): Cell => {
    const isLast = n === sent.length - 1
    const [isDown, isSlowed] = [(down[n] ?? 0) > 0, (throttled[n] ?? 0) > 0]
    const state = isLast ? link.state : isDown ? 'down' : isSlowed ? 'throttled' : 'bound'
    const time = tellStep(Date.parse(until) - (sent.length - n) * 60_000, 30_000, zone)
    const refused = failed[n] ?? 0
    return {
      colour: count === 0 && refused === 0 && !isLast && state === 'bound' ? 'neutral' : colours[state],
      title: `${time}: ${state}, ${formatNumber(count)} sent, ${formatNumber(refused)} failed`,
    }
  })
  const sum = (values: readonly number[]): number => values.reduce((all, one) => all + one, 0)
  const trouble = [
    ...(sum(down) > 0 ? [`down ${sum(down)} s`] : []),
    ...(sum(throttled) > 0 ? [`throttled ${sum(throttled)} s`] : []),
  ]
  const told = [...trouble, `${formatNumber(sum(sent))} sent`, `${formatNumber(sum(failed))} failed`].join(', ')
  return <StateStrip summary={`Last ${minutes} minutes: ${told}`} cells={cells} />
}

const colours = {
  bound: 'good',
  throttled: 'warning',
  down: 'bad',
  binding: 'busy',
  disabled: 'neutral',
} as const satisfies Record<Link['state'], Cell['colour']>
