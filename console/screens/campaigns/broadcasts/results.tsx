/** From recipients to replies, and why messages failed. */
import type { Broadcast } from '@heliogram/sdk'
import { Link } from 'wouter'
import { formatCode, formatShare } from '../../../kit/format.ts'
import { RankedBars } from '../../../kit/pictures.tsx'
import { Section } from '../../../kit/page.tsx'
import { formatNumber } from '../../../kit/show.tsx'
import { failed, Results, type Stats } from '../stats/results.tsx'

const sum = (counts: Record<string, number>): number => Object.values(counts).reduce((all, count) => all + count, 0)

/** Recipients whose turn is over: handed to a carrier, skipped, or canceled. */
export const processedOf = ({ recipients, stats, remaining }: Broadcast): number =>
  recipients - (stats?.queued ?? remaining)

export function BroadcastResults({ broadcast, stats }: { broadcast: Broadcast; stats: Stats }) {
  const { recipients, messages, skipped } = broadcast
  const filter = messagesOf(broadcast)
  return (
    <Results
      stats={stats}
      filter={filter}
      head={[
        { name: 'Recipients', value: recipients, colour: 'neutral' },
        ...(sum(skipped) > 0 ? [{ name: 'Skipped', value: sum(skipped), colour: 'neutral' as const }] : []),
        { name: 'Messages', value: messages, colour: 'accepted', to: `/messages?${filter}` },
      ]}
    />
  )
}

/** The filter for a broadcast's messages: a campaign has one broadcast at a time. */
const messagesOf = ({ campaign, started_at: from }: Broadcast): string =>
  `campaign=${campaign}${from === null ? '' : `&created_after=${from}`}`

/** Most frequent reason first. */
export function Failures({ broadcast, stats }: { broadcast: Broadcast; stats: Stats }) {
  const reasons = Object.entries(stats.failures).sort(([, a], [, b]) => b - a)
  if (reasons.length === 0) return null
  return (
    <Section
      title="Why messages failed"
      actions={<Link href={`/messages?${messagesOf(broadcast)}&${failed}`}>View failed messages</Link>}
    >
      <RankedBars
        label="Failures by reason"
        rows={reasons.map(([reason, value]) => ({
          key: reason,
          name: formatCode(reason),
          note: formatShare(value, stats.failed),
          value,
          colour: 'failed',
          to: `/messages?${messagesOf(broadcast)}&error_code=${reason}`,
        }))}
      />
    </Section>
  )
}

export const Skips = ({ skipped }: Pick<Broadcast, 'skipped'>) =>
  sum(skipped) > 0 && (
    <p className="hint skips">
      Skipped:{' '}
      {Object.entries(skipped)
        .map(
          ([reason, count]) => `${formatNumber(count)} ${formatCode(reason.replace('recipient_', '')).toLowerCase()}`,
        )
        .join(', ')}
      .
    </p>
  )
