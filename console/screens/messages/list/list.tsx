import type { Message } from '@heliogram/sdk'
import { lazy, Suspense, useMemo } from 'react'
import { useCall } from '../../../api.ts'
import { Button, LinkButton } from '../../../kit/button.tsx'
import { loadPart } from '../../../kit/outdated.ts'
import { partsOf } from '../../../kit/country.ts'
import { useFilters } from '../../../kit/filters.tsx'
import { Empty, Loaded, Page } from '../../../kit/page.tsx'
import { Badge, PhoneNumber, tellCount, Time } from '../../../kit/show.tsx'
import { Pager, Table, type Column } from '../../../kit/table.tsx'
import { personOf, tellHold } from '../status.ts'
import { MessageText } from '../text.tsx'
import { BulkActions } from './bulk.tsx'
import { MessageFilters } from './filters.tsx'
import { useHeld, useIsRead } from './hold.ts'
import { filterNames, needsTime, queryOf } from './query.ts'

const ExportMenu = lazy(() => loadPart(() => import('./export.tsx')))

const everyMs = 3000
const none: readonly Message[] = []

/** Why it failed or waits. */
const reasonOf = ({ error, hold }: Message) => (error ? error.title : hold && tellHold(hold.reason))

const countryOf = (number: string | null) => number && partsOf(number)?.country

const columns: readonly Column<Message>[] = [
  {
    title: 'Number',
    cell: (message) => (
      <>
        <span className="way" role="img" aria-label={message.direction === 'outbound' ? 'to' : 'from'}>
          {message.direction === 'outbound' ? '↗' : '↙'}
        </span>{' '}
        <PhoneNumber of={personOf(message)} />
      </>
    ),
  },
  {
    title: 'Status',
    cell: ({ status, test }) => (
      <>
        <Badge status={status} /> {test && <span className="small">test</span>}
      </>
    ),
  },
  {
    title: 'Reason',
    cell: (message) => {
      const reason = reasonOf(message)
      return (
        reason && (
          <span className="reason" title={reason}>
            {reason}
          </span>
        )
      )
    },
  },
  { title: 'Text', isWide: true, cell: (message) => <MessageText of={message} isShort /> },
  { title: 'Segments', isNumber: true, isRare: true, cell: ({ segments }) => segments },
  { title: 'Time', cell: ({ created_at }) => <Time at={created_at} /> },
  { title: 'Country', isRare: true, cell: (message) => countryOf(personOf(message)) },
  { title: 'Sender', isRare: true, cell: ({ direction, from, to }) => (direction === 'outbound' ? from : to) },
  { title: 'Type', isRare: true, cell: ({ type }) => type },
  { title: 'Tags', isRare: true, cell: ({ tags = [] }) => tags.join(', ') },
  { title: 'Message ID', isRare: true, cell: ({ id }) => <code>{id}</code> },
]

export function MessageListScreen() {
  const { filters, set, clear } = useFilters(filterNames)
  const { cursor, ...narrowing } = filters
  const asked = JSON.stringify(narrowing)
  // The tag query ends at the current time: it must stay the same until the filters change, or it would be fetched without end.
  const query = useMemo(() => queryOf(JSON.parse(asked) as typeof narrowing), [asked])
  const isNarrowed = Object.keys(narrowing).length > 0
  const isLive = cursor === undefined
  const call = useCall(
    'listMessages',
    { query: { ...query, ...(!isLive && { cursor }) } },
    isLive ? { every: everyMs } : {},
  )
  const { isRead, around } = useIsRead()
  const { rows, fresh, show } = useHeld(call.data?.data ?? none, {
    question: `${asked} ${cursor}`,
    isSame: !call.isPlaceholderData && call.data !== undefined,
    isHeld: isLive && isRead,
  })
  return (
    <Page
      title="Messages"
      actions={
        <>
          <Suspense>
            <ExportMenu query={query} />
          </Suspense>
          <LinkButton to="/messages/new" does="sendMessage" kind="primary" isNew>
            New message
          </LinkButton>
        </>
      }
    >
      <MessageFilters filters={narrowing} set={set} clear={isNarrowed ? clear : undefined} />
      {needsTime(narrowing) && <p className="hint">Showing the last 30 days. Choose a day to look further back.</p>}
      <Loaded call={call}>
        {(page) => (
          <div {...around}>
            {fresh > 0 && (
              <div className="fresh" role="status">
                <Button
                  kind="primary"
                  onClick={() => {
                    show()
                    scrollTo({ top: 0 })
                  }}
                >
                  {tellCount(fresh, 'new message')}
                </Button>
              </div>
            )}
            <Table
              label="Messages"
              list="messages"
              rows={rows}
              keyOf={({ id }) => id}
              to={({ id }) => `/messages/${id}`}
              bulk={(marked, unmark) => <BulkActions marked={marked} unmark={unmark} />}
              columns={columns.filter(({ title }) => title !== 'Reason' || rows.some(reasonOf))}
              empty={
                isNarrowed || !isLive ? (
                  <Empty
                    title="No matching messages"
                    action={
                      <Button kind="plain" onClick={clear}>
                        Clear filters
                      </Button>
                    }
                  >
                    {page.next_cursor === null
                      ? `No message matches all of these filters.${filters.number || filters.to ? ' Numbers need their country code, such as +1.' : ''}`
                      : 'None among the messages searched so far. Older ones may match.'}
                  </Empty>
                ) : (
                  <Empty
                    title="No messages yet"
                    action={
                      <LinkButton to="/messages/new" does="sendMessage">
                        Send your first message
                      </LinkButton>
                    }
                  >
                    Messages appear here as soon as they are accepted: from your programs, from campaigns and from you.
                    Replies appear here too.
                  </Empty>
                )
              }
            />
            <Pager page={page} />
          </div>
        )}
      </Loaded>
    </Page>
  )
}
