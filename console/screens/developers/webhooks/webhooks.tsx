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
      lead="Signed events, sent to your servers as they happen."
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
                { title: 'URL', cell: ({ url }) => url },
                { title: 'State', cell: (webhook) => <WebhookState of={webhook} /> },
                {
                  title: 'Events',
                  isWide: true,
                  cell: ({ events }) => <span title={events.join(', ')}>{events.join(', ')}</span>,
                },
                { title: 'Description', cell: ({ description }) => description },
                { title: 'Failing since', cell: ({ failing_since }) => <Time at={failing_since} /> },
                { title: 'Created', cell: ({ created_at }) => <Time at={created_at} /> },
              ]}
              empty={
                <Empty title="No webhooks yet" action={<NewWebhook />}>
                  Add your server’s URL to receive the result of each message, and each reply. A campaign or a message
                  can have its own callback URL instead.
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
