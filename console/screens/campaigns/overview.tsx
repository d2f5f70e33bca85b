/** One campaign as it is now: what became of its messages, and its broadcasts. */
import type { Campaign } from '@heliogram/sdk'
import { Link } from 'wouter'
import { LinkButton } from '../../kit/button.tsx'
import { PartsBar } from '../../kit/bars.tsx'
import { Empty, Section } from '../../kit/page.tsx'
import { Facts, Figure, Figures, formatNumber, PhoneNumber, tellCount } from '../../kit/show.tsx'
import { BroadcastList } from './broadcasts/list.tsx'
import { CampaignFrame } from './frame.tsx'
import { isOpen } from './states.ts'
import { outcomeParts } from './stats/outcome.ts'
import { Breakdown } from './stats/breakdown.tsx'

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

/** What one does first. */
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
      A broadcast goes to the contacts of its campaign. They come from a file, one by one, or by the API.
    </Empty>
  )
}

function Outcome({ campaign, stats }: { campaign: Campaign; stats: NonNullable<Campaign['stats']> }) {
  return (
    <Section
      title="What became of its messages"
      actions={<Link href={`/messages?campaign=${campaign.id}`}>All messages</Link>}
    >
      <PartsBar label={`${formatNumber(stats.recipients)} recipients`} parts={outcomeParts(stats)} />
      <div className="section">
        <Figures>
          <Figure value={formatNumber(stats.recipients)} label="recipients" />
          <Figure value={formatNumber(stats.delivered)} label="delivered" tone="good" />
          <Figure value={formatNumber(stats.failed)} label="failed" {...(stats.failed > 0 && { tone: 'bad' })} />
          <Figure value={formatNumber(stats.replies)} label="replies" />
          <Figure value={formatNumber(stats.opt_outs)} label="opt-outs" />
          {(campaign.shorten_urls || stats.clicks > 0) && <Figure value={formatNumber(stats.clicks)} label="clicks" />}
          <Figure value={formatNumber(stats.segments)} label="segments" />
          {stats.cost.map(({ amount, currency }) => (
            <Figure key={currency} value={amount} label={`${currency}, estimated`} />
          ))}
        </Figures>
      </div>
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
