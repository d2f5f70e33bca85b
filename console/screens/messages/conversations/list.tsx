/** Latest reply first. */
import type { Conversation, Operations } from '@heliogram/sdk'
import { useCall } from '../../../api.ts'
import { Button, LinkButton } from '../../../kit/button.tsx'
import { FilterSelect, FilterText } from '../../../kit/filter-inputs.tsx'
import { useFilters } from '../../../kit/filters.tsx'
import { cleanNumber } from '../../../kit/number.ts'
import { Empty, Loaded, Page } from '../../../kit/page.tsx'
import { Badge, formatNumber, None, PhoneNumber, Time } from '../../../kit/show.tsx'
import { Pager, Table } from '../../../kit/table.tsx'
import { useLogin } from '../../../session/login.ts'
import { MessageText } from '../text.tsx'
import { usePeople } from './people.ts'

const everyMs = 3000

const names = ['search', 'state', 'unread', 'assignee', 'their_number', 'our_number', 'campaign'] as const

export function ConversationListScreen() {
  const me = useLogin()?.user.id ?? ''
  const people = usePeople()
  const { filters, clear, field } = useFilters(names)
  const { cursor, state = 'open', unread, their_number: theirs, our_number: ours, ...rest } = filters
  const query: NonNullable<Operations['listConversations']['query']> = {
    ...rest,
    ...((state === 'open' || state === 'closed') && { state }),
    ...(theirs !== undefined && { their_number: cleanNumber(theirs) }),
    ...(ours !== undefined && { our_number: cleanNumber(ours) }),
    ...(unread !== undefined && { unread: unread === 'true' }),
    ...(cursor !== undefined && { cursor }),
  }
  const call = useCall('listConversations', { query }, { every: everyMs })
  const campaigns = useCall('listCampaigns', { query: { limit: 100 } })
  const isNarrowed = Object.keys(filters).length > 0
  return (
    <Page title="Inbox" lead="Replies from people, the newest first">
      <div className="filters" role="search" aria-label="Filters of conversations">
        <FilterText label="Number, or words of the last message" placeholder="Number or words" {...field('search')} />
        <FilterSelect
          label="State"
          options={[
            ['', 'open'],
            ['closed', 'closed'],
            ['all', 'open and closed'],
          ]}
          {...field('state')}
        />
        <FilterSelect
          label="Unread"
          options={[
            ['', 'Read and unread'],
            ['true', 'unread'],
            ['false', 'read'],
          ]}
          {...field('unread')}
        />
        <FilterSelect
          label="Assignee"
          options={[
            ['', 'Any assignee'],
            [me, 'you'],
            ['none', 'unassigned'],
            ...people.others.map(({ id, email }) => [id, email] as const),
          ]}
          {...field('assignee')}
        />
        <FilterText label="Your number" {...field('our_number')} />
        <FilterSelect
          label="Campaign"
          options={[['', 'Any campaign'], ...(campaigns.data?.data ?? []).map(({ id, name }) => [id, name] as const)]}
          {...field('campaign')}
        />
        {isNarrowed && (
          <Button kind="quiet" onClick={clear}>
            Show all
          </Button>
        )}
      </div>
      <Loaded call={call}>
        {(page) => (
          <>
            <Table
              label="Conversations"
              rows={page.data}
              keyOf={({ id }) => id}
              to={({ id }) => `/conversations/${id}`}
              columns={[
                { title: 'Person', cell: (conversation) => <Person of={conversation} /> },
                { title: 'Last message', isWide: true, cell: (conversation) => <LastMessage of={conversation} /> },
                {
                  title: 'Assignee',
                  cell: ({ assignee }) => (assignee ? people.tell(assignee) : <span className="none">unassigned</span>),
                },
                { title: 'Your number', cell: ({ our_number: ours }) => <PhoneNumber of={ours} /> },
                { title: 'Last reply', cell: ({ last_reply_at: at }) => <Time at={at} /> },
              ]}
              empty={
                isNarrowed ? (
                  <Empty title="No such conversations" action={<Button onClick={clear}>Show all</Button>}>
                    No conversation fits all of these filters.
                  </Empty>
                ) : (
                  <Empty
                    title="No open conversations"
                    action={
                      <LinkButton to="/messages/new" does="sendMessage">
                        Write to somebody
                      </LinkButton>
                    }
                  >
                    A conversation begins when a person writes to one of your numbers. A closed conversation opens again
                    when the person replies.
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

const Person = ({ of: { their_number: theirs, unread, state } }: { of: Conversation }) => (
  <>
    <PhoneNumber of={theirs} /> {unread > 0 && <Badge status={`${formatNumber(unread)} unread`} tone="busy" />}
    {state === 'closed' && <Badge status="closed" />}
  </>
)

function LastMessage({ of: { last_message: last, unread } }: { of: Conversation }) {
  if (last === null) return <None />
  return (
    <span className={unread > 0 ? 'unread' : undefined}>
      {last.direction === 'outbound' && <span className="none">You: </span>}
      <MessageText of={last} isShort />
    </span>
  )
}
