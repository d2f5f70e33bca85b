import type { Campaign } from '@heliogram/sdk'
import { download, useCall } from '../../../api.ts'
import { Button, LinkButton } from '../../../kit/button.tsx'
import { FilterSelect, FilterText } from '../../../kit/filter-inputs.tsx'
import { useFilters } from '../../../kit/filters.tsx'
import { Empty, Loaded } from '../../../kit/page.tsx'
import { Badge, PhoneNumber, Time } from '../../../kit/show.tsx'
import { Pager, Table } from '../../../kit/table.tsx'
import { DownloadButton } from '../../../kit/task.tsx'
import { CampaignFrame } from '../frame.tsx'
import { isOpen } from '../states.ts'
import { AddContact } from './add.tsx'

export function ContactsScreen() {
  return <CampaignFrame>{(campaign) => <Contacts campaign={campaign} />}</CampaignFrame>
}

const names = ['phone_prefix', 'tag', 'status', 'language', 'external_id', 'attribute'] as const

type Filters = Partial<Record<(typeof names)[number] | 'cursor', string>>

/** Attributes are filters by their own names; status is one of two. */
function queryOf({ attribute = '', status, cursor: _cursor, phone_prefix: prefix, ...filters }: Filters) {
  const [name = '', ...value] = attribute.split('=')
  const statuses = ['active', 'opted_out'] as const
  const wanted = statuses.find((one) => one === status)
  return {
    ...filters,
    ...(prefix && { phone_prefix: prefix.replace(/[\s()+-]/g, '') }),
    ...(wanted && { status: wanted }),
    ...(value.length > 0 && { [`attributes[${name.trim()}]` as const]: value.join('=').trim() }),
  }
}

function Contacts({ campaign: { id, status } }: { campaign: Campaign }) {
  const { filters, clear, isNarrowed, field } = useFilters(names)
  const { cursor } = filters
  const query = queryOf(filters)
  const contacts = useCall('listContacts', { path: { campaign: id }, query: { ...query, ...(cursor && { cursor }) } })
  return (
    <>
      <div className="section-head">
        <h2>Contacts</h2>
        <div className="actions">
          <DownloadButton
            does="exportContacts"
            label={isNarrowed ? 'Export matching contacts' : 'Export CSV'}
            onDownload={() => download('exportContacts', { path: { campaign: id }, query }, `contacts-${id}.csv`)}
          />
          {isOpen(status) && <AddContact campaign={id} />}
        </div>
      </div>
      <div className="filters" role="search" aria-label="Filters of contacts">
        <FilterText label="Number begins with" placeholder="Number" {...field('phone_prefix')} />
        <FilterText isChip label="Tag" {...field('tag')} />
        <FilterSelect
          label="Status"
          options={[
            ['', 'Any status'],
            ['active', 'Active'],
            ['opted_out', 'Opted out'],
          ]}
          {...field('status')}
        />
        <FilterText isChip label="Language" {...field('language')} />
        <FilterText isChip label="External ID" {...field('external_id')} />
        <FilterText isChip label="Attribute" placeholder="name=value" {...field('attribute')} />
        {isNarrowed && (
          <Button kind="quiet" onClick={clear}>
            Clear filters
          </Button>
        )}
      </div>
      <Loaded call={contacts}>
        {(page) => (
          <>
            <Table
              label="Contacts"
              rows={page.data}
              keyOf={(contact) => contact.id}
              to={(contact) => `/campaigns/${id}/contacts/${contact.id}`}
              columns={[
                { title: 'Number', cell: ({ phone_number }) => <PhoneNumber of={phone_number} /> },
                {
                  title: 'Name',
                  cell: ({ first_name, last_name }) => [first_name, last_name].join(' ').trim() || null,
                },
                { title: 'Status', cell: (contact) => <Badge status={contact.status} /> },
                { title: 'Country', cell: ({ country }) => country },
                { title: 'Language', cell: ({ language }) => language },
                { title: 'Tags', isWide: true, cell: ({ tags }) => tags.join(', ') || null },
                { title: 'Last message', cell: ({ last_message_at }) => <Time at={last_message_at} /> },
              ]}
              empty={isNarrowed ? <NoMatch hasMore={page.has_more} onClear={clear} /> : <NoContacts campaign={id} />}
            />
            <Pager page={page} />
          </>
        )}
      </Loaded>
    </>
  )
}

function NoMatch({ hasMore, onClear }: { hasMore: boolean; onClear: () => void }) {
  return (
    <Empty title="No matching contacts" action={<Button onClick={onClear}>Clear filters</Button>}>
      {hasMore
        ? 'None of the latest contacts match. Go on to older ones with the button below.'
        : 'No contact of this campaign matches these filters.'}
    </Empty>
  )
}

function NoContacts({ campaign }: { campaign: string }) {
  return (
    <Empty
      title="No contacts yet"
      action={
        <LinkButton does="importContacts" to={`/campaigns/${campaign}/import`}>
          Import contacts
        </LinkButton>
      }
    >
      Import a file, or add contacts one by one, to send them broadcasts.
    </Empty>
  )
}
