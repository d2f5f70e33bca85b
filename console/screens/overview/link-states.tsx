/** The links to carriers as they are now, and what waits for them. */
import { Link } from 'wouter'
import { useCall } from '../../api.ts'
import { LinkButton } from '../../kit/button.tsx'
import { Empty, Loaded, Section } from '../../kit/page.tsx'
import { Badge, formatNumber, Time } from '../../kit/show.tsx'
import { Table } from '../../kit/table.tsx'

/** How often it looks again. Milliseconds. */
const everyMs = 10_000

export function LinkStates() {
  const carriers = useCall('listCarriers', {}, { every: everyMs })
  const queue = useCall('getQueue', {}, { every: everyMs })
  return (
    <Section title="Carriers" actions={<Link href="/carriers">All carriers</Link>}>
      {queue.data && queue.data.messages > 0 && (
        <p className="lead">
          {formatNumber(queue.data.messages)} messages wait for their turn, {formatNumber(queue.data.segments)}{' '}
          segments.
        </p>
      )}
      <Loaded call={carriers}>
        {({ data }) => (
          <Table
            label="Carriers"
            rows={data.flatMap((carrier) => carrier.links.map((link) => ({ carrier, link })))}
            keyOf={({ link }) => link.id}
            to={({ carrier }) => `/carriers/${carrier.id}`}
            columns={[
              { title: 'Carrier', cell: ({ carrier }) => carrier.name },
              { title: 'State', cell: ({ link }) => <Badge status={link.state} /> },
              { title: 'Sessions', isNumber: true, cell: ({ link }) => link.sessions },
              { title: 'In flight', isNumber: true, cell: ({ link }) => `${link.in_flight} of ${link.window}` },
              { title: 'Rate', isNumber: true, cell: ({ link }) => `${link.rate_1m} of ${link.pace}/s` },
              {
                title: 'Answers in',
                isNumber: true,
                cell: ({ link }) => (link.response ? `${link.response.p50_ms} ms` : '–'),
              },
              { title: 'Heartbeat', cell: ({ link }) => <Time at={link.last_enquire_link_at} /> },
              {
                title: 'Last error',
                isWide: true,
                cell: ({ link }) => link.last_error,
              },
            ]}
            empty={
              <Empty
                title="No carriers yet"
                action={
                  <LinkButton to="/carriers/new" does="createCarrier">
                    Add a carrier
                  </LinkButton>
                }
              >
                A carrier takes messages to phones, over SMPP or HTTP.
              </Empty>
            }
          />
        )}
      </Loaded>
    </Section>
  )
}
