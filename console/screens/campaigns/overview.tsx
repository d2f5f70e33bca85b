import type { Campaign } from '@heliogram/sdk'
import { Link } from 'wouter'
import { LinkButton } from '../../kit/button.tsx'
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
            Import a file
          </LinkButton>
          <LinkButton to={`/campaigns/${id}/contacts`} does="createContact">
            Add them one by one
          </LinkButton>
        </div>
      }
    >
      A broadcast goes to the contacts of its campaign. Import them from a file, add them one by one, or use the API.
    </Empty>
  )
}

function Outcome({ campaign, stats }: { campaign: Campaign; stats: NonNullable<Campaign['stats']> }) {
  return (
    <Section title="Results" actions={<Link href={`/messages?campaign=${campaign.id}`}>All messages</Link>}>
      <Results stats={stats} hasClicks={campaign.shorten_urls} />
    </Section>
  )
}

function About({ campaign }: { campaign: Campaign }) {
  return (
    <Section title="What it brings" actions={<Link href={`/campaigns/${campaign.id}/settings`}>Change</Link>}>
      <Facts
        facts={[
          ['Description', campaign.description],
          ['Type', campaign.type],
          ['From', campaign.from && <PhoneNumber of={campaign.from} />],
          ['Sender pool', campaign.sender_pool && <code>{campaign.sender_pool}</code>],
          ['Text', campaign.message && <span className="text">{campaign.message}</span>],
          ['Template', campaign.template && <Link href={`/templates/${campaign.template}`}>{campaign.template}</Link>],
          ['Default country', campaign.default_country],
          ['Time zone', campaign.timezone],
          ['Pace', campaign.pace === null ? null : `${tellCount(campaign.pace, 'segment')} a second`],
          ['Validity', campaign.validity_period === null ? null : `${formatNumber(campaign.validity_period)} s`],
          ['Tags', campaign.tags.join(', ')],
          ['Id', <code key="id">{campaign.id}</code>],
        ]}
      />
    </Section>
  )
}
