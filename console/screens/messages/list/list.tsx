import { useMemo } from 'react'
import { useCall } from '../../../api.ts'
import { Button, LinkButton } from '../../../kit/button.tsx'
import { useFilters } from '../../../kit/filters.tsx'
import { Empty, Loaded, Page } from '../../../kit/page.tsx'
import { Badge, PhoneNumber, Time } from '../../../kit/show.tsx'
import { Pager, Table } from '../../../kit/table.tsx'
import { personOf } from '../status.ts'
import { MessageText } from '../text.tsx'
import { ExportButtons } from './export.tsx'
import { MessageFilters } from './filters.tsx'
import { filterNames, needsTime, queryOf } from './query.ts'

const everyMs = 3000

export function MessageListScreen() {
  const { filters, set, clear } = useFilters(filterNames)
  const { cursor, ...narrowing } = filters
  const asked = JSON.stringify(narrowing)
  // The tag query ends at the current time: it must stay the same until the filters change, or it would be fetched without end.
  const query = useMemo(() => queryOf(JSON.parse(asked) as typeof narrowing), [asked])
  const isNarrowed = Object.keys(narrowing).length > 0
  const call = useCall(
    'listMessages',
    { query: { ...query, ...(cursor !== undefined && { cursor }) } },
    cursor === undefined ? { every: everyMs } : {},
  )
  return (
    <Page
      title="Messages"
      lead="Everything that was sent and received, newest first"
      actions={
        <>
          <ExportButtons query={query} />
          <LinkButton to="/messages/new" does="sendMessage" kind="primary" isNew>
            New message
          </LinkButton>
        </>
      }
    >
      <MessageFilters filters={narrowing} set={set} clear={isNarrowed ? clear : undefined} />
      {needsTime(narrowing) && <p className="hint">Of the last 30 days: choose a day to look further back.</p>}
      <Loaded call={call}>
        {(page) => (
          <>
            <Table
              label="Messages"
              rows={page.data}
              keyOf={({ id }) => id}
              to={({ id }) => `/messages/${id}`}
              columns={[
                {
                  title: 'With',
                  cell: (message) => (
                    <>
                      <span className="way" role="img" aria-label={message.direction === 'outbound' ? 'to' : 'from'}>
                        {message.direction === 'outbound' ? '→' : '←'}
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
                { title: 'Text', isWide: true, cell: (message) => <MessageText of={message} isShort /> },
                { title: 'Segments', isNumber: true, cell: ({ segments }) => segments },
                { title: 'When', cell: ({ created_at }) => <Time at={created_at} /> },
              ]}
              empty={
                isNarrowed || cursor !== undefined ? (
                  <Empty
                    title="No such messages"
                    action={
                      <Button kind="plain" onClick={clear}>
                        Show all
                      </Button>
                    }
                  >
                    {page.next_cursor === null
                      ? 'No message fits all of these filters.'
                      : 'None among those that were looked at so far; older ones may fit.'}
                  </Empty>
                ) : (
                  <Empty
                    title="No messages yet"
                    action={
                      <LinkButton to="/messages/new" does="sendMessage">
                        Send the first one
                      </LinkButton>
                    }
                  >
                    Messages appear here as they are accepted, from every sender: your programs by the API, a campaign,
                    or you. Replies of people appear here too.
                  </Empty>
                )
              }
            />
            <Pager page={page} />
          </>
        )}
      </Loaded>
    </Page>
  )
}
