import { useMemo } from 'react'
import { Link } from 'wouter'
import { useCall } from '../../api.ts'
import { LinkButton } from '../../kit/button.tsx'
import { Allowed, useMay } from '../../kit/may.tsx'
import { Empty, Loaded, Page, Section } from '../../kit/page.tsx'
import { Badge, Figure, Figures, formatNumber, PhoneNumber, Time } from '../../kit/show.tsx'
import { Table } from '../../kit/table.tsx'
import { useLogin } from '../../session/login.ts'
import { AlertList } from './alerts.tsx'
import { LinkStates } from './link-states.tsx'

const everyMs = 5000

const startOfDay = (): string => `${new Date().toISOString().slice(0, 10)}T00:00:00Z`

export function OverviewScreen() {
  const login = useLogin()
  const from = useMemo(startOfDay, [])
  const mayCount = useMay('getUsage')
  const usage = useCall('getUsage', { query: { from } }, { every: 2 * everyMs, enabled: mayCount })
  const latest = useCall('listMessages', { query: { limit: 8 } }, { every: everyMs })
  return (
    <Page
      title="Home"
      lead={mayCount ? <>Today, since midnight UTC, in {login?.account}</> : login?.account}
      actions={
        <LinkButton to="/messages/new" does="sendMessage" kind="primary">
          Send a message
        </LinkButton>
      }
    >
      <AlertList />
      {mayCount && (
        <Loaded call={usage}>
          {({ total }) => (
            <Figures>
              <Figure value={formatNumber(total.messages)} label="messages" />
              <Figure value={formatNumber(total.delivered)} label="delivered" tone="good" />
              <Figure value={formatNumber(total.queued + total.sent)} label="on their way" />
              <Figure value={formatNumber(total.failed)} label="failed" {...(total.failed > 0 && { tone: 'bad' })} />
              <Figure
                value={formatNumber(total.unconfirmed)}
                label="unconfirmed"
                {...(total.unconfirmed > 0 && { tone: 'warning' })}
              />
              <Figure value={formatNumber(total.replies)} label="replies" />
              <Figure value={formatNumber(total.segments)} label="segments" />
              {total.cost.map(({ amount, currency }) => (
                <Figure key={currency} value={amount} label={`${currency}, estimated`} />
              ))}
            </Figures>
          )}
        </Loaded>
      )}
      <Allowed to="listCarriers">
        <LinkStates />
      </Allowed>
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
                  cell: ({ direction, to, from }) => <PhoneNumber of={direction === 'outbound' ? to : from} />,
                },
                { title: 'Status', cell: ({ status }) => <Badge status={status} /> },
                {
                  title: 'Text',
                  isWide: true,
                  cell: ({ message }) => message ?? <span className="none">not shown</span>,
                },
                { title: 'When', cell: ({ created_at }) => <Time at={created_at} /> },
              ]}
              empty={
                <Empty
                  title="No messages yet"
                  action={
                    <LinkButton to="/messages/new" does="sendMessage">
                      Send the first one
                    </LinkButton>
                  }
                >
                  Messages appear here as soon as they are accepted, from the API or from this console.
                </Empty>
              }
            />
          )}
        </Loaded>
      </Section>
    </Page>
  )
}
