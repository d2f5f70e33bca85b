/** Where a broadcast is: its share done, its rate and the time left, or why it waits. */
import type { Broadcast } from '@heliogram/sdk'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { formatShare } from '../../../kit/format.ts'
import { Progress, Time, formatNumber } from '../../../kit/show.tsx'
import { isUnderWay } from '../states.ts'
import { tellDuration, useRate } from './rate.ts'
import { processedOf } from './results.tsx'

export function Live({ broadcast, at }: { broadcast: Broadcast; at: number }) {
  const { status, recipients } = broadcast
  const done = processedOf(broadcast)
  const rate = useRate(done, at)
  if (!isUnderWay(status)) return <Over broadcast={broadcast} />
  return (
    <section className="card live" aria-label="Progress">
      <div className="live-head">
        <strong className="live-share">{formatShare(done, recipients)}</strong>
        <span>
          {formatNumber(done)} of {formatNumber(recipients)} recipients
        </span>
        {status === 'sending' && rate !== null && (
          <span className="live-rate">
            <strong>{formatNumber(Math.round(rate))}/s</strong>
            {rate > 0 && ` · about ${tellDuration((recipients - done) / rate)} left`}
          </span>
        )}
      </div>
      <Progress done={done} of={recipients} label="Recipients done" />
      <p className="hint">{tellState(broadcast, rate)}</p>
    </section>
  )
}

function tellState({ status, send_at, send_at_local, hold }: Broadcast, rate: number | null): ReactNode {
  if (hold)
    return (
      <>
        On hold: a <Link href="/guards">guard</Link> ({hold.reason.replaceAll('_', ' ')}) stopped it. It continues{' '}
        <Time at={hold.until} />, or when you release the guard.
      </>
    )
  if (status === 'awaiting_approval')
    return 'Waiting for approval. It goes to more recipients than one person may write to alone, so somebody else must approve it.'
  if (status === 'paused') return 'Paused. Nothing more is sent until you resume it.'
  if (status === 'scheduled')
    return send_at_local ? (
      `Starts at ${send_at_local.replace('T', ' ')} in each recipient’s time zone.`
    ) : (
      <>
        Starts <Time at={send_at} />.
      </>
    )
  if (rate === 0)
    return (
      <>
        Nothing was sent in the last seconds. Quiet hours, the sending rate or a <Link href="/carriers">carrier</Link>{' '}
        may be holding it.
      </>
    )
  return 'Sending. You can leave this page.'
}

function Over({ broadcast: { status, started_at: from, completed_at: to, messages } }: { broadcast: Broadcast }) {
  if (from === null || to === null || status === 'withdrawn' || status === 'rejected') return null
  const seconds = (Date.parse(to) - Date.parse(from)) / 1000
  return (
    <p className="hint">
      {status === 'canceled' ? 'Stopped after' : 'Sent in'} {tellDuration(seconds)}
      {seconds >= 10 && messages > 0 && `, ${formatNumber(Math.round(messages / seconds) || 1)} messages/s on average`}.
    </p>
  )
}
