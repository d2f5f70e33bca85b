/** The day in five figures. Each is a link to what it counts. */
import type { Operations, Summary } from '@heliogram/sdk'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { useCall } from '../../api.ts'
import { formatCode, formatShare, formatSums } from '../../kit/format.ts'
import { formatNumber, tellCount } from '../../kit/show.tsx'
import { failedStatuses, type Day } from './today.ts'

type Total = Operations['getUsage']['answer']['total']

const oneDecimal = new Intl.NumberFormat(undefined, { minimumFractionDigits: 1, maximumFractionDigits: 1 })

/** In percent of those with an end; null: none has one. */
function deliveredShare({ delivered, failed }: Pick<Total, 'delivered' | 'failed'>): number | null {
  return delivered + failed === 0 ? null : (delivered / (delivered + failed)) * 100
}

export function Tiles({ summary, day: { today, yesterday, since } }: { summary: Summary; day: Day }) {
  const share = deliveredShare(today)
  const before = yesterday && deliveredShare(yesterday)
  const { queued, sent, unconfirmed } = summary.in_progress
  const oldest = Math.max(0, ...(summary.queue?.parts.map((part) => part.oldest_age_seconds ?? 0) ?? []))
  const from = `created_after=${new Date(since).toISOString()}`
  return (
    <div className="tiles">
      <Tile to={`/messages?direction=outbound&${from}`} label="Sent today" value={formatNumber(today.messages)}>
        {yesterday && `${formatNumber(yesterday.messages)} yesterday`}
      </Tile>
      <Tile
        to={`/messages?status=delivered&${from}`}
        label="Delivered"
        value={formatShare(today.delivered, today.delivered + today.failed)}
      >
        {share !== null && typeof before === 'number' ? (
          <Change by={share - before} />
        ) : (
          tellCount(today.delivered, 'message')
        )}
      </Tile>
      <Tile
        to={`/messages?status=${failedStatuses}&${from}`}
        label="Failed"
        value={formatNumber(today.failed)}
        tone={today.failed > 0 ? 'bad' : undefined}
      >
        {today.failed > 0 ? <TopReason since={since} /> : 'No failures'}
      </Tile>
      <Tile to="/messages?status=scheduled,queued,sending,sent" label="In progress" value={formatNumber(queued + sent)}>
        {oldest > 0
          ? `oldest queued ${tellSpan(oldest)}`
          : unconfirmed > 0
            ? `and ${formatNumber(unconfirmed)} unconfirmed`
            : 'Nothing queued'}
      </Tile>
      <Spend cost={today.cost} />
    </div>
  )
}

interface TileProps {
  to: string
  label: string
  value: ReactNode
  tone?: 'bad' | undefined
  children: ReactNode
}

const Tile = ({ to, label, value, tone, children }: TileProps) => (
  <Link href={to} className={tone ? `tile ${tone}` : 'tile'}>
    <span className="tile-label">{label}</span>
    <strong>{value}</strong>
    <span className="tile-note">{children}</span>
  </Link>
)

function Change({ by }: { by: number }) {
  const text = `${oneDecimal.format(Math.abs(by))} pt`
  if (text === `${oneDecimal.format(0)} pt`) return 'same as yesterday'
  return (
    <>
      <span className={by > 0 ? 'up' : 'down'}>
        {by > 0 ? '▲' : '▼'} {text}
      </span>{' '}
      vs. yesterday
    </>
  )
}

function TopReason({ since }: { since: number }) {
  const query = { from: new Date(since).toISOString(), group: 'error' }
  const { data } = useCall('getUsage', { query }, { every: 30_000 })
  const [top] = (data?.data ?? []).toSorted((a, b) => b.failed - a.failed)
  return top?.error ? `mostly: ${formatCode(top.error).toLowerCase()}` : 'See the reasons'
}

function Spend({ cost }: { cost: Total['cost'] }) {
  const limits = useCall('listGuardLimits', {}, { every: 30_000, isSide: true })
  const [spent] = cost
  if (!spent)
    return (
      <Tile to="/carriers" label="Spend today" value="–">
        Add a rate card to see costs
      </Tile>
    )
  const limit = limits.data?.data.find(({ kind, key }) => kind === 'spend' && key === spent.currency)
  const most = limit?.limit
  return (
    <Tile to={most ? '/guards' : '/usage'} label="Spend today" value={formatSums([spent])}>
      {most ? `of ${formatSums([{ ...spent, amount: most }])} limit` : 'No limit set'}
    </Tile>
  )
}

/** `41 s`, `12 min`, `3 h`. */
export function tellSpan(seconds: number): string {
  if (seconds < 90) return `${Math.round(seconds)} s`
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`
  return seconds < 172_800 ? `${Math.round(seconds / 3600)} h` : `${Math.round(seconds / 86_400)} days`
}
