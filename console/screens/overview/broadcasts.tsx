/** Broadcasts that are not over, with their progress and remaining time. */
import type { Summary } from '@heliogram/sdk'
import { Link } from 'wouter'
import { Section } from '../../kit/page.tsx'
import { Funnel, Gauge } from '../../kit/pictures.tsx'
import { tellSpan } from './tiles.tsx'
import { Badge, formatNumber, tellCount, Time } from '../../kit/show.tsx'

type Running = NonNullable<Summary['broadcasts']>[number]

const shownMax = 4

export function Broadcasts({ of }: { of: readonly Running[] }) {
  const [first] = of
  if (!first) return null
  return (
    <Section title="Broadcasts" actions={<Link href="/broadcasts">All broadcasts</Link>}>
      <div className="running">
        {of.slice(0, shownMax).map((broadcast) => (
          <div key={broadcast.id}>
            <p>
              <Link href={`/broadcasts/${broadcast.id}`}>{broadcast.campaign.name}</Link>{' '}
              <Badge status={broadcast.status} />
            </p>
            <Gauge
              label={`Progress of ${broadcast.campaign.name}`}
              value={broadcast.stats.recipients - broadcast.stats.queued}
              max={broadcast.stats.recipients}
              colour="sent"
            >
              {tellProgress(broadcast)}
            </Gauge>
          </div>
        ))}
      </div>
      {of.length === 1 && first.stats.sent + first.stats.delivered > 0 && <Steps of={first} />}
    </Section>
  )
}

function tellProgress({ stats, rate, eta_seconds: eta, status, send_at: at }: Running) {
  const done = `${formatNumber(stats.recipients - stats.queued)} of ${formatNumber(stats.recipients)}`
  if (status === 'scheduled')
    return (
      <>
        {tellCount(stats.recipients, 'recipient')} · starts <Time at={at} />
      </>
    )
  if (eta === null) return done
  return `${done} · ${formatNumber(Math.round(rate))}/s · done in about ${tellSpan(eta)}`
}

function Steps({ of: { stats, campaign } }: { of: Running }) {
  const { recipients, sent, delivered, failed, unconfirmed } = stats
  return (
    <Funnel
      label={`Results of ${campaign.name} so far`}
      steps={[
        { name: 'Recipients', value: recipients, colour: 'accepted' },
        { name: 'Sent', value: sent + delivered + failed + unconfirmed, colour: 'sent' },
        { name: 'Delivered', value: delivered, colour: 'delivered' },
        { name: 'Replied', value: stats.replies, colour: 'accent' },
        { name: 'Opted out', value: stats.opt_outs, colour: 'failed' },
      ]}
    />
  )
}
