import type { Campaign } from '@heliogram/sdk'
import { Link } from 'wouter'
import { LinkButton } from '../../kit/button.tsx'
import { formatSums } from '../../kit/format.ts'
import { Empty, Section } from '../../kit/page.tsx'
import { Facts, formatNumber, PhoneNumber, tellCount } from '../../kit/show.tsx'
import { BroadcastList } from './broadcasts/list.tsx'
import { CampaignFrame } from './frame.tsx'
import { isOpen } from './states.ts'
import { Breakdown } from './stats/breakdown.tsx'
import { Results } from './stats/results.tsx'

export function CampaignScreen() {
  return (
    <CampaignFrame>
      {(campaign) => (
        <>
          <NextStep campaign={campaign} />
          {campaign.stats && campaign.stats.recipients > 0 && <Outcome campaign={campaign} stats={campaign.stats} />}
          <BroadcastList campaign={campaign.id} isOpen={isOpen(campaign.status)} />
          {campaign.stats && campaign.stats.recipients > 0 && <Breakdown campaign={campaign.id} />}
          <About campaign={campaign} />
        </>
      )}
    </CampaignFrame>
  )
}

function NextStep({ campaign: { id, contacts_count, status } }: { campaign: Campaign }) {
  if (contacts_count > 0 || !isOpen(status)) return null
  return (
    <Empty
      title="No contacts yet"
      action={
        <div className="buttons">
          <LinkButton to={`/campaigns/${id}/import`} does="importContacts" kind="primary">
            Import contacts
          </LinkButton>
          <LinkButton to={`/campaigns/${id}/contacts`} does="createContact">
            Add a contact
          </LinkButton>
        </div>
      }
    >
      Broadcasts go to the contacts of their campaign. Import a file, or add contacts one by one.
    </Empty>
  )
}

function Outcome({ campaign, stats }: { campaign: Campaign; stats: NonNullable<Campaign['stats']> }) {
  return (
    <Section title="Results" actions={<Link href={`/messages?campaign=${campaign.id}`}>View messages</Link>}>
      <Results
        stats={stats}
        filter={`campaign=${campaign.id}`}
        head={[{ name: 'Messages', value: stats.recipients, colour: 'neutral' }]}
      />
      <p className="hint skips">
        {tellCount(stats.segments, 'segment')}
        {stats.cost.length > 0 && ` · ${formatSums(stats.cost)} estimated`}
      </p>
    </Section>
  )
}

function About({ campaign }: { campaign: Campaign }) {
  return (
    <Section title="Defaults" actions={<Link href={`/campaigns/${campaign.id}/settings`}>Edit</Link>}>
      <Facts
        facts={[
          ['Description', campaign.description],
          ['Type', campaign.type],
          ['From', campaign.from && <PhoneNumber of={campaign.from} />],
          ['Sender pool', campaign.sender_pool && <code>{campaign.sender_pool}</code>],
          ['Message', campaign.message && <span className="text">{campaign.message}</span>],
          ['Template', campaign.template && <Link href={`/templates/${campaign.template}`}>{campaign.template}</Link>],
          ['Default country', campaign.default_country],
          ['Time zone', campaign.timezone],
          ['Sending rate', campaign.pace === null ? null : `${tellCount(campaign.pace, 'segment')} per second`],
          ['Validity period', campaign.validity_period === null ? null : `${formatNumber(campaign.validity_period)} s`],
          ['Tags', campaign.tags.join(', ')],
          ['Campaign ID', <code key="id">{campaign.id}</code>],
        ]}
      />
    </Section>
  )
}
