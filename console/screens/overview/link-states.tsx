/** The current state of links to carriers, and their queues. */
import { Link } from 'wouter'
import { useCall } from '../../api.ts'
import { LinkButton } from '../../kit/button.tsx'
import { tellLinkError } from '../../kit/link-error.ts'
import { Empty, Loaded, Section } from '../../kit/page.tsx'
import { Badge, formatNumber, tellCount } from '../../kit/show.tsx'
import { Table } from '../../kit/table.tsx'

const everyMs = 10_000

export function LinkStates() {
  const carriers = useCall('listCarriers', {}, { every: everyMs })
  const queue = useCall('getQueue', {}, { every: everyMs })
  return (
    <Section title="Carriers" actions={<Link href="/carriers">All carriers</Link>}>
      {queue.data && queue.data.messages > 0 && (
        <p className="lead">
          In line: {tellCount(queue.data.messages, 'message')}, {tellCount(queue.data.segments, 'segment')}.
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
              { title: 'Sessions', isNumber: true, cell: ({ link }) => formatNumber(link.sessions) },
              {
                title: 'In flight',
                isNumber: true,
                cell: ({ link }) => `${formatNumber(link.in_flight)} of ${formatNumber(link.window)}`,
              },
              {
                title: 'Rate',
                isNumber: true,
                cell: ({ link }) => `${formatNumber(link.rate_1m)} of ${formatNumber(link.pace)}/s`,
              },
              {
                title: 'Answers in',
                isNumber: true,
                cell: ({ link }) => (link.response ? `${link.response.p50_ms} ms` : '–'),
              },
              {
                title: 'Last error',
                isWide: true,
                cell: ({ link }) => link.last_error && tellLinkError(link.last_error),
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
