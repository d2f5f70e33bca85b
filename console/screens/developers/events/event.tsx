import { Link, useParams } from 'wouter'
import { useCall } from '../../../api.ts'
import { useFilters } from '../../../kit/filters.tsx'
import { Json } from '../../../kit/json.tsx'
import { Empty, Loaded, Page, Section } from '../../../kit/page.tsx'
import { Copy, Facts, Moment } from '../../../kit/show.tsx'
import { Pager } from '../../../kit/table.tsx'
import { Attempts } from '../attempts.tsx'
import { meaningOf } from '../event-types.ts'
import { Redeliver } from '../redeliver.tsx'
import { messageOf, subjectOf } from './subject.ts'

export function EventScreen() {
  const { id = '' } = useParams()
  const { filters } = useFilters([])
  const event = useCall('getEvent', { path: { id } })
  const attempts = useCall('listEventDeliveries', { path: { id }, query: filters }, { every: 2000 })
  const message = event.data && messageOf(event.data)
  return (
    <Page
      title={event.data?.type ?? 'Event'}
      back={{ to: '/events', title: 'Events' }}
      lead={event.data && meaningOf(event.data.type)}
      actions={event.data && event.data.type !== 'webhook.test' && <Redeliver event={id} />}
    >
      <Loaded call={event}>
        {(one) => (
          <div className="card">
            <Facts
              facts={[
                ['ID', <Copy key="id" text={one.id} />],
                ['Recorded', <Moment key="at" at={one.timestamp} />],
                ['About', subjectOf(one)],
                ['Message', message && <Link href={`/messages/${message}`}>{message}</Link>],
                ['Sequence', one.sequence],
              ]}
            />
          </div>
        )}
      </Loaded>
      <Section title="Deliveries">
        <Loaded call={attempts}>
          {(page) => (
            <>
              <Attempts
                of="event"
                rows={page.data}
                empty={
                  <Empty title="Not sent">
                    No webhook subscribed to this type at the time, or the first attempt is still pending.
                  </Empty>
                }
              />
              <Pager page={page} />
            </>
          )}
        </Loaded>
      </Section>
      <Section title="Payload">
        <Loaded call={event}>{(one) => <Json of={one} label="The event" />}</Loaded>
      </Section>
    </Page>
  )
}
