import { useCall } from '../../../api.ts'
import { LinkButton } from '../../../kit/button.tsx'
import { Empty, Loaded, Section } from '../../../kit/page.tsx'
import { Badge, Time } from '../../../kit/show.tsx'
import { Table } from '../../../kit/table.tsx'

export function SmppClients() {
  const credentials = useCall('listSmppCredentials', { query: { limit: 100 } }, { every: 5000 })
  const make = (
    <LinkButton to="/keys/smpp/new" does="createSmppCredential">
      Create SMPP credential
    </LinkButton>
  )
  return (
    <Section title="SMPP clients" {...(credentials.data && credentials.data.data.length > 0 && { actions: make })}>
      <Loaded call={credentials}>
        {({ data }) => (
          <Table
            label="SMPP clients"
            rows={data}
            keyOf={({ id }) => id}
            to={({ id }) => `/keys/smpp/${id}`}
            columns={[
              { title: 'Name', cell: ({ name }) => name },
              { title: 'State', cell: (one) => <Badge status={one.enabled ? 'enabled' : 'disabled'} /> },
              { title: 'system_id', cell: ({ system_id }) => <code>{system_id}</code> },
              { title: 'Mode', cell: ({ mode }) => <Badge status={mode} /> },
              {
                title: 'Sessions',
                isNumber: true,
                cell: ({ sessions, max_sessions }) => `${sessions} of ${max_sessions}`,
              },
              { title: 'Pace', isNumber: true, cell: ({ pace }) => `${pace}/s` },
              { title: 'Replies', cell: ({ receives_replies }) => (receives_replies ? 'yes' : 'no') },
              { title: 'Last bound', cell: ({ last_bound_at }) => <Time at={last_bound_at} /> },
            ]}
            empty={
              <Empty title="No SMPP clients" action={make}>
                Create a credential for each program that connects over SMPP 3.4. The operator must have opened a port.
              </Empty>
            }
          />
        )}
      </Loaded>
    </Section>
  )
}
