/** From messages to replies: of a campaign, or of a broadcast. */
import type { Campaign } from '@heliogram/sdk'
import { formatShare } from '../../../kit/format.ts'
import { RankedBars, type Ranked } from '../../../kit/pictures.tsx'

export type Stats = NonNullable<Campaign['stats']>
export type Step = Pick<Ranked, 'value' | 'colour' | 'to'> & { name: string }

interface ResultsProps {
  stats: Stats
  /** The last is the whole, of which the steps after it are shares. */
  head: readonly Step[]
  /** Of the list of messages. */
  filter: string
}

export const failed = 'status=undelivered,rejected,expired,failed'

export function Results({ stats, head, filter }: ResultsProps) {
  const to = (more: string) => `/messages?${filter}&${more}`
  const some = (step: Step): Step[] => (step.value > 0 ? [step] : [])
  const sent = stats.sent + stats.delivered + stats.failed + stats.unconfirmed
  const whole = head.at(-1)?.value ?? 0
  const steps: Step[] = [
    { name: 'Sent', value: sent, colour: 'sent', to: `/messages?${filter}` },
    { name: 'Delivered', value: stats.delivered, colour: 'delivered', to: to('status=delivered') },
    { name: 'Failed', value: stats.failed, colour: 'failed', to: to(failed) },
    ...some({ name: 'Unconfirmed', value: stats.unconfirmed, colour: 'neutral', to: to('status=unconfirmed') }),
    ...some({ name: 'Canceled', value: stats.canceled, colour: 'neutral', to: to('status=canceled') }),
    ...some({ name: 'Clicked', value: stats.clicks, colour: 'delivered' }),
    { name: 'Replied', value: stats.replies, colour: 'delivered', to: to('direction=inbound') },
    { name: 'Opted out', value: stats.opt_outs, colour: 'failed' },
  ]
  return (
    <RankedBars
      label="Results"
      rows={[
        ...head.map((step) => ({ ...step, key: step.name, note: '' })),
        ...steps.map((step) => ({ ...step, key: step.name, note: formatShare(step.value, whole) })),
      ]}
    />
  )
}
