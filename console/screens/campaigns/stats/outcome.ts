/** A campaign's counts as parts of a whole: they add up to its recipients. */
import type { Campaign } from '@heliogram/sdk'
import type { Part } from '../../../kit/pictures.tsx'

type Counts = Pick<
  NonNullable<Campaign['stats']>,
  'queued' | 'sent' | 'delivered' | 'failed' | 'unconfirmed' | 'canceled'
>

const messageParts = (counts: Counts): Part[] => [
  { name: 'delivered', value: counts.delivered, tone: 'good' },
  { name: 'sent', value: counts.sent, tone: 'busy' },
  { name: 'queued', value: counts.queued, tone: 'neutral' },
  { name: 'unconfirmed', value: counts.unconfirmed, tone: 'warning' },
  { name: 'failed', value: counts.failed, tone: 'bad' },
  { name: 'canceled', value: counts.canceled, tone: 'neutral' },
]

/** By recipient, including those without a message. */
export const outcomeParts = (stats: NonNullable<Campaign['stats']>): Part[] =>
  [
    ...messageParts(stats),
    { name: 'skipped: opted out', value: stats.skipped.opted_out, tone: 'neutral' as const },
    { name: 'skipped: invalid', value: stats.skipped.invalid, tone: 'neutral' as const },
    { name: 'skipped: duplicate', value: stats.skipped.duplicate, tone: 'neutral' as const },
    { name: 'skipped: quiet hours', value: stats.skipped.quiet_hours, tone: 'neutral' as const },
  ].filter(({ name, value }) => value > 0 || ['delivered', 'sent', 'queued', 'failed'].includes(name))
