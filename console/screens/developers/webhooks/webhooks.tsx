import { useCall } from '../../../api.ts'
import { Empty, Loaded, Page } from '../../../kit/page.tsx'
import { useFilters } from '../../../kit/filters.tsx'
import { Time } from '../../../kit/show.tsx'
import { Pager, Table } from '../../../kit/table.tsx'
import { WebhookState } from './state.tsx'
import { LinkButton } from '../../../kit/button.tsx'

const NewWebhook = () => (
  <LinkButton to="/webhooks/new" does="createWebhook" kind="primary" isNew>
    Add a webhook
  </LinkButton>
)

export function WebhooksScreen() {
  const { filters } = useFilters([])
  const webhooks = useCall('listWebhooks', { query: filters }, { every: 5000 })
  return (
    <Page
      title="Webhooks"
      lead="Heliogram posts events to these addresses as they happen, and signs each post."
      actions={
        <>
          <LinkButton to="/events">Events</LinkButton>
          <NewWebhook />
        </>
      }
    >
      <Loaded call={webhooks}>
        {(page) => (
          <>
            <Table
              label="Webhooks"
              rows={page.data}
              keyOf={({ id }) => id}
              to={({ id }) => `/webhooks/${id}`}
              columns={[
                { title: 'Address', cell: ({ url }) => url },
                { title: 'State', cell: (webhook) => <WebhookState of={webhook} /> },
                {
                  title: 'Events',
                  isWide: true,
                  cell: ({ events }) => <span title={events.join(', ')}>{events.join(', ')}</span>,
                },
                { title: 'For', cell: ({ description }) => description },
                { title: 'Failing since', cell: ({ failing_since }) => <Time at={failing_since} /> },
                { title: 'Created', cell: ({ created_at }) => <Time at={created_at} /> },
              ]}
              empty={
                <Empty title="No webhooks yet" action={<NewWebhook />}>
                  Add the address of your server. Heliogram posts the outcome of each message and each reply to it. A
                  campaign or a message can have a callback address of its own instead.
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
