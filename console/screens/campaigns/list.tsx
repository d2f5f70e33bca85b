/** All campaigns. */
import { useState } from 'react'
import { useLocation } from 'wouter'
import { useCall } from '../../api.ts'
import { Button, LinkButton } from '../../kit/button.tsx'
import { useFilters } from '../../kit/filters.tsx'
import { Empty, Loaded, Page } from '../../kit/page.tsx'
import { Badge, formatNumber, Time } from '../../kit/show.tsx'
import { Pager, Table } from '../../kit/table.tsx'
import { CampaignTabs } from './tabs.tsx'

const newButton = (
  <LinkButton to="/campaigns/new" does="createCampaign" kind="primary" isNew>
    New campaign
  </LinkButton>
)

export function CampaignsScreen() {
  const { filters } = useFilters([])
  const campaigns = useCall('listCampaigns', { query: filters }, { every: 5000 })
  return (
    <Page
      title="Campaigns"
      lead="A campaign groups contacts and messages, brings their defaults, and sends to all of its contacts at once."
      actions={newButton}
    >
      <CampaignTabs />
      <ByKey />
      <Loaded call={campaigns}>
        {(page) => (
          <>
            <Table
              label="Campaigns"
              rows={page.data}
              keyOf={({ id }) => id}
              to={({ id }) => `/campaigns/${id}`}
              columns={[
                { title: 'Name', cell: ({ name }) => name },
                { title: 'Status', cell: ({ status }) => <Badge status={status} /> },
                { title: 'Contacts', isNumber: true, cell: ({ contacts_count }) => formatNumber(contacts_count) },
                { title: 'Key', cell: ({ key }) => key && <code>{key}</code> },
                { title: 'Type', cell: ({ type }) => type },
                { title: 'Tags', isWide: true, cell: ({ tags }) => tags.join(', ') || null },
                { title: 'Created', cell: ({ created_at }) => <Time at={created_at} /> },
              ]}
              empty={
                <Empty title="No campaigns yet" action={newButton}>
                  A campaign holds contacts, from a file or one by one. What is sent to them, and what became of it,
                  stands with it.
                </Empty>
              }
            />
            <Pager page={page} />
          </>
        )}
      </Loaded>
    </Page>
  )
}

/** The API reads one campaign by its key; it has no other filter of campaigns. */
function ByKey() {
  const [, go] = useLocation()
  const [key, setKey] = useState('')
  return (
    <form
      className="filters"
      role="search"
      onSubmit={(event) => {
        event.preventDefault()
        if (key.trim() !== '') go(`/campaigns/${encodeURIComponent(key.trim())}`)
      }}
    >
      <input
        type="search"
        aria-label="Key or id of a campaign"
        placeholder="Go to a key or id"
        value={key}
        onChange={(event) => setKey(event.target.value)}
      />
      <Button type="submit">Open</Button>
    </form>
  )
}
