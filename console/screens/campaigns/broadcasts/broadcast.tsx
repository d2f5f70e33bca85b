import type { Broadcast } from '@heliogram/sdk'
import { Link, useParams } from 'wouter'
import { formatSums } from '../../../kit/format.ts'
import { useCall } from '../../../api.ts'
import { Loaded, Page, Section } from '../../../kit/page.tsx'
import { Badge, Copy, Facts, formatNumber, Moment, Time, tellCount } from '../../../kit/show.tsx'
import { Lifecycle } from '../lifecycle.tsx'
import { isUnderWay } from '../states.ts'
import { Decision, Withdraw } from './decision.tsx'
import { Live } from './live.tsx'
import { OverTime } from './over-time.tsx'
import { BroadcastResults, Failures, Skips } from './results.tsx'
import { BroadcastTable } from './table.tsx'
import { titleOf } from './title.ts'
import { Who } from './who.tsx'

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
      title={broadcast ? titleOf(broadcast.message) : 'Broadcast'}
      {...(broadcast && {
        tab: `${titleOf(broadcast.message)} · Broadcast`,
        back: { to: `/campaigns/${broadcast.campaign}`, title: campaign.data?.name ?? 'Campaign' },
        lead: (
          <>
            <Badge status={broadcast.status} /> Created <Time at={broadcast.created_at} />
            {broadcast.ordered_by && (
              <>
                {' by '}
                <Who id={broadcast.ordered_by} />
              </>
            )}
            {' · '}
            {tellAudience(broadcast)}
            {broadcast.test && ' · Test mode: nothing reaches a carrier'}
          </>
        ),
        actions: (
          <>
            {broadcast.status === 'awaiting_approval' && <Decision broadcast={broadcast} />}
            <Lifecycle
              campaign={broadcast.campaign}
              status={broadcast.status}
              stop={broadcast.messages === 0 && <Withdraw id={broadcast.id} />}
            />
          </>
        ),
      })}
    >
      <Loaded call={call}>{(data) => <Details broadcast={data} at={call.dataUpdatedAt} />}</Loaded>
    </Page>
  )
}

const tellAudience = ({ audience }: Broadcast): string =>
  audience ? `Contacts tagged ${audience.tags.join(' or ')}` : 'All contacts'

function Details({ broadcast, at }: { broadcast: Broadcast; at: number }) {
  const { stats } = broadcast
  return (
    <>
      <Live broadcast={broadcast} at={at} />
      <div className="beside">
        <div>
          {stats && (
            <Section title="Results">
              <BroadcastResults broadcast={broadcast} stats={stats} />
              <Skips skipped={broadcast.skipped} />
            </Section>
          )}
          <OverTime broadcast={broadcast} />
          {stats && <Failures broadcast={broadcast} stats={stats} />}
        </div>
        <div>
          <Section title="Message">
            <p className="sample" dir="auto">
              {broadcast.message}
            </p>
          </Section>
          <Section title="Details">
            <About broadcast={broadcast} />
          </Section>
        </div>
      </div>
      <Others broadcast={broadcast} />
    </>
  )
}

function About({ broadcast }: { broadcast: Broadcast }) {
  const { stats, approval } = broadcast
  return (
    <Facts
      facts={[
        ['Audience', tellAudience(broadcast)],
        ['Scheduled for', broadcast.send_at && isLater(broadcast) && <Moment at={broadcast.send_at} />],
        ['Local time', broadcast.send_at_local?.replace('T', ' ')],
        ['Started', broadcast.started_at && <Moment at={broadcast.started_at} />],
        ['Completed', broadcast.completed_at && <Moment at={broadcast.completed_at} />],
        ['Segments', formatNumber(broadcast.segments)],
        ['Estimated cost', stats && formatSums(stats.cost)],
        [approval?.recipients === null ? 'Rejected by' : 'Approved by', approval && <Who id={approval.by} />],
        ['Decision', approval && tellDecision(approval)],
        ['Broadcast ID', <Copy key="id" text={broadcast.id} />],
      ]}
    />
  )
}

/** Without a time the API starts it at once. */
const isLater = ({ send_at: at, created_at: from }: Broadcast): boolean =>
  at !== null && Date.parse(at) - Date.parse(from) > 60_000

/** The campaign's other broadcasts, to compare. */
function Others({ broadcast: { id, campaign } }: { broadcast: Broadcast }) {
  const broadcasts = useCall('listBroadcasts', { path: { campaign }, query: { limit: 10 } }, { every: 10_000 })
  if (!broadcasts.data || broadcasts.data.data.length < 2) return null
  return (
    <Section
      title="Compared with this campaign’s other broadcasts"
      actions={<Link href={`/campaigns/${campaign}`}>View campaign</Link>}
    >
      <BroadcastTable rows={broadcasts.data.data} here={id} empty={null} />
    </Section>
  )
}

function tellDecision({ recipients, reason }: NonNullable<Broadcast['approval']>): string {
  const word = recipients === null ? 'Rejected' : `Approved for ${tellCount(recipients, 'recipient')}`
  return reason === null ? word : `${word}: ${reason}`
}
