/** The broadcasts of a campaign. */
import { useCall } from '../../../api.ts'
import { LinkButton } from '../../../kit/button.tsx'
import { useFilters } from '../../../kit/filters.tsx'
import { Empty, Loaded, Section } from '../../../kit/page.tsx'
import { Badge, formatNumber, Time } from '../../../kit/show.tsx'
import { Pager, Table } from '../../../kit/table.tsx'

export function BroadcastList({ campaign, isOpen }: { campaign: string; isOpen: boolean }) {
  const { filters } = useFilters([])
  const broadcasts = useCall(
    'listBroadcasts',
    { path: { campaign }, query: { ...filters, limit: 10 } },
    { every: 3000 },
  )
  return (
    <Section title="Broadcasts">
      <Loaded call={broadcasts}>
        {(page) => (
          <>
            <Table
              label="Broadcasts"
              rows={page.data}
              keyOf={({ id }) => id}
              to={({ id }) => `/broadcasts/${id}`}
              columns={[
                { title: 'Ordered', cell: ({ created_at }) => <Time at={created_at} /> },
                { title: 'Status', cell: ({ status }) => <Badge status={status} /> },
                { title: 'Text', isWide: true, cell: ({ message }) => message },
                { title: 'Recipients', isNumber: true, cell: ({ recipients }) => formatNumber(recipients) },
                { title: 'Messages', isNumber: true, cell: ({ messages }) => formatNumber(messages) },
                { title: 'To come', isNumber: true, cell: ({ remaining }) => formatNumber(remaining) },
                { title: 'Begins', cell: ({ send_at, send_at_local }) => send_at_local ?? <Time at={send_at} /> },
              ]}
              empty={
                <Empty
                  title="No broadcasts yet"
                  action={isOpen && <LinkButton to={`/campaigns/${campaign}/send`}>Send to contacts</LinkButton>}
                >
                  A broadcast is one text to all contacts of the campaign, or to those with a tag: now, or at a time.
                </Empty>
              }
            />
            <Pager page={page} />
          </>
        )}
      </Loaded>
    </Section>
  )
}
