import type { Campaign } from '@heliogram/sdk'
import { use, type ReactNode } from 'react'
import { useLocation, useParams } from 'wouter'
import { useCall } from '../../api.ts'
import { LinkButton } from '../../kit/button.tsx'
import { isAllowed, Scopes } from '../../kit/may.tsx'
import { Loaded, Page } from '../../kit/page.tsx'
import { Badge, Copy, tellCount } from '../../kit/show.tsx'
import { Tabs } from '../../kit/tabs.tsx'
import { Lifecycle } from './lifecycle.tsx'
import { isOpen, isUnderWay } from './states.ts'

const tabs = [
  ['', 'Overview', 'getCampaign'],
  ['/contacts', 'Contacts', 'listContacts'],
  ['/import', 'Import', 'listImports'],
  ['/send', 'Broadcast', 'sendCampaign'],
  ['/settings', 'Settings', 'getCampaign'],
] as const

const campaignsBack = { to: '/campaigns', title: 'Campaigns' }

export function CampaignFrame({ children }: { children: (campaign: Campaign) => ReactNode }) {
  const { id } = useParams<{ id: string }>()
  const [path] = useLocation()
  const held = use(Scopes)
  const call = useCall('getCampaign', { path: { campaign: id } }, { every: 3000 })
  const campaign = call.data
  const isAt = tabs.find(([end]) => path === `/campaigns/${id}${end}`)
  if (campaign === undefined)
    return (
      <Page title="Campaign" back={campaignsBack}>
        <Loaded call={call}>{() => null}</Loaded>
      </Page>
    )
  return (
    <Page
      title={campaign.name}
      tab={`${isAt && isAt[0] !== '' ? `${isAt[1]} · ` : ''}${campaign.name}`}
      back={campaignsBack}
      lead={
        <>
          <Badge status={campaign.status} /> {tellCount(campaign.contacts_count, 'contact')} ·{' '}
          <Copy text={campaign.key ?? campaign.id} />
        </>
      }
      actions={
        <>
          <Lifecycle campaign={campaign.id} status={campaign.status} />
          {isOpen(campaign.status) &&
            !isUnderWay(campaign.status) &&
            campaign.contacts_count > 0 &&
            isAt?.[0] !== '/send' && (
              <LinkButton to={`/campaigns/${id}/send`} does="sendCampaign" kind="primary">
                Create broadcast
              </LinkButton>
            )}
        </>
      }
    >
      <Tabs
        label="Parts of the campaign"
        tabs={tabs.flatMap(([end, title, does]) => (isAllowed(held, does) ? [[`/campaigns/${id}${end}`, title]] : []))}
        current={`/campaigns/${id}${isAt?.[0] ?? ''}`}
      />
      {call.error && <Loaded call={call}>{() => null}</Loaded>}
      {/* A form inside leaves the width of the page as it is: the tabs stay in their place. */}
      <div>{children(campaign)}</div>
    </Page>
  )
}
