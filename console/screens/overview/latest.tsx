import { Link } from 'wouter'
import { useCall } from '../../api.ts'
import { LinkButton } from '../../kit/button.tsx'
import { Empty, Loaded, Section } from '../../kit/page.tsx'
import { Badge, PhoneNumber, Time } from '../../kit/show.tsx'
import { Table } from '../../kit/table.tsx'

export function Latest({ everyMs }: { everyMs: number }) {
  const latest = useCall('listMessages', { query: { limit: 8 } }, { every: everyMs })
  return (
    <Section title="Latest messages" actions={<Link href="/messages">All messages</Link>}>
      <Loaded call={latest}>
        {({ data }) => (
          <Table
            label="Latest messages"
            rows={data}
            keyOf={({ id }) => id}
            to={({ id }) => `/messages/${id}`}
            columns={[
              {
                title: 'With',
                cell: ({ direction, to, from }) => (
                  <>
                    <span className="direction" title={direction === 'outbound' ? 'Sent to' : 'Received from'}>
                      {direction === 'outbound' ? '↗' : '↙'}
                    </span>{' '}
                    <PhoneNumber of={direction === 'outbound' ? to : from} />
                  </>
                ),
              },
              { title: 'Status', cell: ({ status }) => <Badge status={status} /> },
              {
                title: 'Text',
                isWide: true,
                cell: ({ message }) =>
                  message === null ? <span className="none">not shown</span> : <bdi>{message}</bdi>,
              },
              { title: 'When', cell: ({ created_at }) => <Time at={created_at} /> },
            ]}
            empty={
              <Empty
                title="No messages yet"
                action={
                  <LinkButton to="/messages/new" does="sendMessage">
                    Send a message
                  </LinkButton>
                }
              >
                Messages sent from the API or this console appear here.
              </Empty>
            }
          />
        )}
      </Loaded>
    </Section>
  )
}
