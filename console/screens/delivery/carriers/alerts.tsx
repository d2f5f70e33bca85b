/** One alert per episode of trouble, ongoing or over. */
import type { Alert } from '@heliogram/sdk'
import { Link } from 'wouter'
import { useCall } from '../../../api.ts'
import { tellLinkError } from '../../../kit/link-error.ts'
import { tellPostError } from '../../../kit/post-error.ts'
import { FilterSelect } from '../../../kit/filter-inputs.tsx'
import { useFilters } from '../../../kit/filters.tsx'
import { Empty, Loaded, Section } from '../../../kit/page.tsx'
import { Badge, formatNumber, None, PhoneNumber, Time } from '../../../kit/show.tsx'
import { Pager, Table } from '../../../kit/table.tsx'
import { oneOf } from '../../../kit/typed.ts'

const titles: Record<Alert['type'], string> = {
  'link.down': 'Link down',
  'link.throttled': 'Link throttled',
  'sender.degraded': 'Sender degraded',
  'webhook.failing': 'Webhook failing',
  'webhook.disabled': 'Webhook disabled',
  'reply.orphaned': 'Replies without an account',
}

export function AlertsSection() {
  const { filters, set } = useFilters(['status', 'alert'])
  const status = oneOf(['open', 'closed'], filters.status ?? '', undefined)
  const type = Object.keys(titles).find((name): name is Alert['type'] => name === filters.alert)
  const alerts = useCall(
    'listAlerts',
    { query: { ...(status && { status }), ...(type && { type }), cursor: filters.cursor, limit: 10 } },
    { every: 5000 },
  )
  return (
    <Section title="Alerts">
      <div className="filters">
        <FilterSelect
          label="Status of alerts"
          value={status}
          onChange={(value) => set('status', value)}
          options={[
            ['', 'All statuses'],
            ['open', 'Open'],
            ['closed', 'Closed'],
          ]}
        />
        <FilterSelect
          label="Type of alerts"
          value={type}
          onChange={(value) => set('alert', value)}
          options={[['', 'All types'], ...Object.entries(titles)]}
        />
      </div>
      <Loaded call={alerts}>
        {(page) => (
          <>
            <Table
              label="Alerts"
              rows={page.data}
              keyOf={({ id }) => id}
              columns={[
                {
                  title: 'Status',
                  cell: ({ status: now }) => <Badge status={now} tone={now === 'open' ? 'bad' : 'neutral'} />,
                },
                { title: 'Alert', cell: (alert) => titles[alert.type] },
                { title: 'About', cell: (alert) => <About of={alert} /> },
                {
                  title: 'Details',
                  cell: (alert) => (
                    <span className="wraps">
                      <Words of={alert} />
                    </span>
                  ),
                },
                { title: 'Opened', cell: ({ opened_at }) => <Time at={opened_at} /> },
                { title: 'Closed', cell: ({ closed_at }) => <Time at={closed_at} /> },
              ]}
              empty={
                <Empty title={status === 'open' ? 'No open alerts' : 'No alerts'}>
                  Alerts cover links that are down or throttled, senders with low delivery rates, webhooks that fail or
                  were disabled, and replies without an account. Closed alerts are kept for 90 days.
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

function About({ of: { type, carrier, sender, webhook } }: { of: Alert }) {
  if (carrier)
    return <Link href={`/carriers/${carrier.id}${type === 'reply.orphaned' ? '/replies' : ''}`}>{carrier.name}</Link>
  if (sender !== null)
    return (
      <Link href={`/senders?number=${encodeURIComponent(sender)}`}>
        <PhoneNumber of={sender} />
      </Link>
    )
  return webhook === null ? <None /> : <Link href={`/webhooks/${webhook}`}>{webhook}</Link>
}

function Words({
  of: { type, last_error, sender, allowed_pace, pace, delivered, failed, window_minutes, reason },
}: {
  of: Alert
}) {
  switch (type) {
    case 'link.down':
      return last_error === null ? <None /> : tellLinkError(last_error)
    case 'link.throttled':
      return `Reduced to ${tell(allowed_pace)} of ${tell(pace)} segments per second`
    case 'sender.degraded':
      return `${delivered} delivered, ${failed} failed in ${window_minutes} minutes`
    case 'webhook.failing':
      return `Every delivery fails. Last error: ${tellPostError(last_error)}`
    case 'reply.orphaned':
      return `People wrote to ${sender ?? 'a number'}, which no account has as a sender`
    case 'webhook.disabled':
    default:
      return reason === 'gone' ? 'The endpoint answered 410 Gone.' : 'Every delivery failed for five days.'
  }
}

const tell = (count: number | null): string => (count === null ? 'some' : formatNumber(count))
