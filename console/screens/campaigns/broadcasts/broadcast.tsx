import type { Broadcast } from '@heliogram/sdk'
import { Link, useParams } from 'wouter'
import { useCall } from '../../../api.ts'
import { PartsBar } from '../../../kit/pictures.tsx'
import { Loaded, Page, Section } from '../../../kit/page.tsx'
import { Table } from '../../../kit/table.tsx'
import { Badge, Copy, Facts, Figure, Figures, formatNumber, Moment, Time, tellCount } from '../../../kit/show.tsx'
import { Lifecycle } from '../lifecycle.tsx'
import { isUnderWay } from '../states.ts'
import { Results } from '../stats/results.tsx'
import { Decision, Withdraw } from './decision.tsx'

export function BroadcastScreen() {
  const { id } = useParams<{ id: string }>()
  const call = useCall(
    'getBroadcast',
    { path: { id } },
    // Receipts, replies and clicks arrive after the end.
    { every: (one) => (one && !isUnderWay(one.status) ? 5000 : 2000) },
  )
  const broadcast = call.data
  // The name is only needed in the head: the rest does not wait for it.
  const campaign = useCall(
    'getCampaign',
    { path: { campaign: broadcast?.campaign ?? '' } },
    { enabled: broadcast !== undefined },
  )
  return (
    <Page
      title="Broadcast"
      {...(broadcast && {
        back: { to: `/campaigns/${broadcast.campaign}`, title: campaign.data?.name ?? 'Campaign' },
        lead: (
          <>
            <Badge status={broadcast.status} /> ordered <Time at={broadcast.created_at} />
            {broadcast.test && ' · in test mode: nothing reaches a carrier'}
          </>
        ),
        actions: (
          <>
            {broadcast.status === 'awaiting_approval' && <Decision broadcast={broadcast} />}
            {isUnderWay(broadcast.status) && broadcast.messages === 0 && <Withdraw id={broadcast.id} />}
            <Lifecycle campaign={broadcast.campaign} status={broadcast.status} />
          </>
        ),
      })}
    >
      <Loaded call={call}>{(data) => <Details broadcast={data} />}</Loaded>
    </Page>
  )
}

function Details({ broadcast }: { broadcast: Broadcast }) {
  const { recipients, messages, remaining, skipped, status, hold, stats } = broadcast
  const passedOver = Object.values(skipped).reduce((all, count) => all + count, 0)
  return (
    <>
      {status === 'awaiting_approval' && (
        <p className="notice">
          It waits for another person’s approval, because it would go to more contacts than one person may write to
          alone.
        </p>
      )}
      {hold && (
        <p className="notice">
          A <Link href="/guards">guard</Link> ({hold.reason.replaceAll('_', ' ')}) has stopped it, and the remaining
          recipients wait. It continues <Time at={hold.until} />, or when you release the guard.
        </p>
      )}
      <Figures>
        <Figure value={formatNumber(recipients)} label={broadcast.expanded ? 'recipients' : 'recipients so far'} />
        <Figure value={formatNumber(messages)} label="messages made" tone="good" />
        <Figure value={formatNumber(remaining)} label="waiting" />
        <Figure value={formatNumber(passedOver)} label="skipped" {...(passedOver > 0 && { tone: 'warning' })} />
        <Figure value={formatNumber(broadcast.segments)} label="segments" />
      </Figures>
      <Section title="Progress">
        <PartsBar
          label={tellCount(recipients, 'recipient')}
          parts={[
            { name: 'messages', value: messages, tone: 'good' },
            ...Object.entries(skipped).map(([reason, value]) => ({
              name: `skipped: ${reason.replaceAll('_', ' ')}`,
              value,
              tone: 'warning' as const,
            })),
            { name: 'waiting', value: remaining, tone: 'neutral' },
          ]}
        />
      </Section>
      {stats && stats.recipients > 0 && (
        <Section
          title="Results"
          actions={<Link href={`/messages?campaign=${broadcast.campaign}`}>Messages of the campaign</Link>}
        >
          <Results stats={stats} />
          <Failures stats={stats} />
        </Section>
      )}
      <Section title="Text">
        <p className="sample">{broadcast.message}</p>
      </Section>
      <Section title="The order">
        <Facts
          facts={[
            ['Audience', broadcast.audience ? `contacts with ${broadcast.audience.tags.join(' or ')}` : 'all contacts'],
            ['Begins', broadcast.send_at && <Moment at={broadcast.send_at} />],
            ['On each clock', broadcast.send_at_local?.replace('T', ' ')],
            ['Ordered', <Moment key="ordered" at={broadcast.created_at} />],
            ['Ordered by', broadcast.ordered_by && <code>{broadcast.ordered_by}</code>],
            ['Began', broadcast.started_at && <Moment at={broadcast.started_at} />],
            ['Over', broadcast.completed_at && <Moment at={broadcast.completed_at} />],
            ['Decided by', broadcast.approval && <code>{broadcast.approval.by}</code>],
            ['Decided', broadcast.approval && <Moment at={broadcast.approval.at} />],
            ['Decision', broadcast.approval && tellDecision(broadcast.approval)],
            ['Id', <Copy key="id" text={broadcast.id} />],
          ]}
        />
      </Section>
    </>
  )
}

/** Most frequent reason first. */
function Failures({ stats }: { stats: NonNullable<Broadcast['stats']> }) {
  const rows = Object.entries(stats.failures).sort(([, a], [, b]) => b - a)
  if (rows.length === 0) return null
  return (
    <Table
      label="Failures by reason"
      rows={rows}
      keyOf={([reason]) => reason}
      columns={[
        { title: 'Reason of failure', cell: ([reason]) => reason },
        { title: 'Messages', isNumber: true, cell: ([, count]) => formatNumber(count) },
      ]}
      empty={null}
    />
  )
}

function tellDecision({ recipients, reason }: NonNullable<Broadcast['approval']>): string {
  const word = recipients === null ? 'rejected' : `approved for ${tellCount(recipients, 'recipient')}`
  return reason === null ? word : `${word}: ${reason}`
}
