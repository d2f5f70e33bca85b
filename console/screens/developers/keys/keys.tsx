import { useCall } from '../../../api.ts'
import { LinkButton } from '../../../kit/button.tsx'
import { useFilters } from '../../../kit/filters.tsx'
import { Empty, Loaded, Page, Section } from '../../../kit/page.tsx'
import { Badge, Time } from '../../../kit/show.tsx'
import { Pager, Table } from '../../../kit/table.tsx'
import { SmppClients } from '../smpp/clients.tsx'
import { Ends } from './ends.tsx'
import { TwilioCredentials } from './twilio.tsx'

const NewKey = () => (
  <LinkButton to="/keys/new" does="createApiKey" kind="primary" isNew>
    Create API key
  </LinkButton>
)

export function KeysScreen() {
  const { filters } = useFilters([])
  const keys = useCall('listApiKeys', { query: filters }, { every: 30_000 })
  return (
    <Page title="API keys" lead="Keys for your servers. People sign in with their own account." actions={<NewKey />}>
      <Loaded call={keys}>
        {(page) => (
          <>
            <Table
              label="API keys"
              rows={page.data}
              keyOf={({ id }) => id}
              to={({ id }) => `/keys/${id}`}
              columns={[
                { title: 'Name', cell: ({ name }) => name },
                { title: 'Prefix', cell: ({ prefix }) => <code>{prefix}</code> },
                { title: 'Mode', cell: ({ mode }) => <Badge status={mode} /> },
                { title: 'Scopes', isWide: true, cell: ({ scopes }) => scopes.join(', ') },
                { title: 'Last used', cell: ({ last_used_at }) => <Time at={last_used_at} /> },
                { title: 'Expires', cell: (key) => <Ends of={key} /> },
              ]}
              empty={
                <Empty title="No API keys yet" action={<NewKey />}>
                  Create a key for each server, with only the access that it needs.
                </Empty>
              }
            />
            <Pager page={page} />
          </>
        )}
      </Loaded>
      <SmppClients />
      <Section title="Twilio-compatible credentials">
        <TwilioCredentials />
      </Section>
    </Page>
  )
}
