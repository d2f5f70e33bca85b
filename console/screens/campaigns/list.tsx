import { useCall } from '../../api.ts'
import { Button, LinkButton } from '../../kit/button.tsx'
import { FilterDay, FilterSelect, FilterText } from '../../kit/filter-inputs.tsx'
import { useFilters } from '../../kit/filters.tsx'
import { typeOf, typeOptions } from '../../kit/message-types.ts'
import { Empty, Loaded, Page } from '../../kit/page.tsx'
import { Badge, formatNumber, Time } from '../../kit/show.tsx'
import { Pager, Table } from '../../kit/table.tsx'

const newButton = (
  <LinkButton to="/campaigns/new" does="createCampaign" kind="primary" isNew>
    New campaign
  </LinkButton>
)

const names = ['name', 'status', 'type', 'tag', 'created_after', 'created_before'] as const

const statuses: readonly (readonly [string, string])[] = [
  ['', 'Any status'],
  ['awaiting_approval,scheduled,sending,paused', 'Broadcast in progress'],
  ['draft', 'Draft'],
  ['active', 'Active'],
  ['completed', 'Completed'],
  ['canceled', 'Canceled'],
  ['archived', 'Archived'],
]

export function CampaignsScreen() {
  const { filters, clear, isNarrowed, field } = useFilters(names)
  const { type, ...rest } = filters
  const query = { ...rest, ...(typeOf(type) && { type: typeOf(type) }) }
  const campaigns = useCall('listCampaigns', { query }, { every: 5000 })
  return (
    <Page title="Campaigns" lead="Contacts and the broadcasts that you send them." actions={newButton}>
      <div className="filters" role="search" aria-label="Filters of campaigns">
        <FilterText label="Name or key" {...field('name')} />
        <FilterSelect label="Status" options={statuses} {...field('status')} />
        <FilterSelect label="Type" options={typeOptions('Any type')} {...field('type')} />
        <FilterText label="Tag" {...field('tag')} />
        <FilterDay label="After" {...field('created_after')} />
        <FilterDay label="Before" {...field('created_before')} />
        {isNarrowed && (
          <Button kind="quiet" onClick={clear}>
            Clear filters
          </Button>
        )}
      </div>
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
                isNarrowed ? (
                  <Empty title="No matching campaigns" action={<Button onClick={clear}>Clear filters</Button>}>
                    Change or clear the filters to see other campaigns.
                  </Empty>
                ) : (
                  <Empty title="No campaigns yet" action={newButton}>
                    A campaign holds contacts and sends them broadcasts. Create one, then import your contacts.
                  </Empty>
                )
              }
            />
            <Pager page={page} />
          </>
        )}
      </Loaded>
    </Page>
  )
}
