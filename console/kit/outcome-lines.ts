/** Outcomes of messages over time, for a chart. */
import type { Line } from './chart.tsx'

interface Counts {
  queued: number
  sent: number
  delivered: number
  failed: number
  unconfirmed: number
}

/** `steps`: oldest first. */
export const outcomeLines = (steps: readonly Counts[]): Line[] => [
  { name: 'delivered', colour: '--chart-delivered', values: steps.map(({ delivered }) => delivered) },
  { name: 'in progress', colour: '--chart-sent', values: steps.map(({ queued, sent }) => queued + sent) },
  { name: 'unconfirmed', colour: '--chart-unconfirmed', values: steps.map(({ unconfirmed }) => unconfirmed) },
  { name: 'failed', colour: '--chart-failed', values: steps.map(({ failed }) => failed) },
]
