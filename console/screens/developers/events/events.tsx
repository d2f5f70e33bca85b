import type { Event } from '@heliogram/sdk'
import { useCall } from '../../../api.ts'
import { Button, LinkButton } from '../../../kit/button.tsx'
import { FilterSelect, FilterText } from '../../../kit/filter-inputs.tsx'
import { useFilters } from '../../../kit/filters.tsx'
import { Empty, Loaded, Page } from '../../../kit/page.tsx'
import { Time } from '../../../kit/show.tsx'
import { Pager, Table } from '../../../kit/table.tsx'
import { eventTypes, meaningOf } from '../event-types.ts'
import { subjectOf } from './subject.ts'

export function EventsScreen() {
  const { filters, set, clear } = useFilters(['type', 'message', 'delivery'])
  const { type, message, delivery, cursor } = filters
  const query = {
    ...(type && { type }),
    ...(message && { message }),
    ...(delivery && { delivery_success: delivery === 'taken' }),
    ...(cursor && { cursor }),
  }
  const isFiltered = Boolean(type ?? message ?? delivery)
  const events = useCall('listEvents', { query }, cursor ? {} : { every: 2000 })
  return (
    <Page
      title="Events"
      lead="What happened, as sent to your webhooks. Kept for 30 days unless your settings say otherwise."
      actions={<LinkButton to="/webhooks">Webhooks</LinkButton>}
    >
      <div className="filters">
        <FilterSelect
          label="Type"
          value={type}
          onChange={(value) => set('type', value)}
          options={[['', 'All types'], ...eventTypes.map((one): [string, string] => [one, one])]}
        />
        <FilterSelect
          label="Delivery"
          value={delivery}
          onChange={(value) => set('delivery', value)}
          options={[
            ['', 'Any delivery'],
            ['refused', 'Failing'],
            ['taken', 'Delivered'],
          ]}
        />
        <FilterText label="Message ID" value={message} onChange={(value) => set('message', value)} />
        {isFiltered && (
          <Button kind="quiet" onClick={clear}>
            Clear
          </Button>
        )}
      </div>
      <Loaded call={events}>
        {(page) => (
          <>
            <Table<Event>
              label="Events"
              rows={page.data}
              keyOf={({ id }) => id}
              to={({ id }) => `/events/${id}`}
              columns={[
                { title: 'Type', cell: ({ type }) => <span title={meaningOf(type)}>{type}</span> },
                { title: 'About', cell: subjectOf },
                { title: 'ID', isWide: true, cell: ({ id }) => <code>{id}</code> },
                { title: 'When', cell: ({ timestamp }) => <Time at={timestamp} /> },
              ]}
              empty={
                isFiltered ? (
                  <Empty title="No such events" action={<Button onClick={clear}>Show all</Button>}>
                    Types other than the first three are recorded only while some webhook lists them.
                  </Empty>
                ) : (
                  <Empty title="No events yet">
                    Deliveries, failures and replies are always recorded; other types while a webhook lists them.
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
