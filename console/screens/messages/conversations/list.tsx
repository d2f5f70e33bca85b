/** Latest reply first. */
import type { Conversation, Operations } from '@heliogram/sdk'
import { Link } from 'wouter'
import { useCall } from '../../../api.ts'
import { Button, LinkButton } from '../../../kit/button.tsx'
import { FilterSelect, FilterText } from '../../../kit/filter-inputs.tsx'
import { useFilters } from '../../../kit/filters.tsx'
import { cleanNumber } from '../../../kit/number.ts'
import { Empty, Loaded } from '../../../kit/page.tsx'
import { Badge, formatNumber, PhoneNumber, Time } from '../../../kit/show.tsx'
import { Pager } from '../../../kit/table.tsx'
import { useLogin } from '../../../session/login.ts'
import { MessageText } from '../text.tsx'
import { usePeople } from './people.ts'

const everyMs = 3000

const names = ['search', 'state', 'unread', 'assignee', 'their_number', 'our_number', 'campaign'] as const

interface ListProps {
  /** Id of the open conversation. */
  open: string | undefined
  /** Of the address, to stay when another conversation is opened. */
  filters: string
}

export function ConversationList({ open, filters: kept }: ListProps) {
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
  const campaigns = useCall('listCampaigns', { query: { limit: 100 } }, { isSide: true })
  const isNarrowed = Object.keys(filters).length > 0
  const Title = open === undefined ? 'h1' : 'h2'
  return (
    <section className="inbox-list" aria-label="Conversations">
      <header>
        <Title>Inbox</Title>
        <div className="filters" role="search" aria-label="Filters of conversations">
          <FilterText label="Number, or words of the last message" placeholder="Number or words" {...field('search')} />
          <FilterSelect
            label="State"
            options={[
              ['', 'Open'],
              ['closed', 'Closed'],
              ['all', 'Open and closed'],
            ]}
            {...field('state')}
          />
          <FilterSelect
            label="Unread"
            options={[
              ['', 'Read and unread'],
              ['true', 'Unread'],
              ['false', 'Read'],
            ]}
            {...field('unread')}
          />
          <FilterSelect
            label="Assigned to"
            options={[
              ['', 'Any assignee'],
              [me, 'You'],
              ['none', 'Unassigned'],
              ...people.others.map(({ id, email }) => [id, email] as const),
            ]}
            {...field('assignee')}
          />
          <FilterSelect
            label="Campaign"
            options={[['', 'Any campaign'], ...(campaigns.data?.data ?? []).map(({ id, name }) => [id, name] as const)]}
            {...field('campaign')}
          />
          {isNarrowed && (
            <Button kind="quiet" onClick={clear}>
              Clear filters
            </Button>
          )}
        </div>
      </header>
      <Loaded call={call}>
        {(page) => (
          <>
            {page.data.length === 0 && <None isNarrowed={isNarrowed} clear={clear} />}
            <ul>
              {page.data.map((conversation, n) => {
                const at = page.data.findIndex(({ id }) => id === open)
                return (
                  <li key={conversation.id}>
                    <Item
                      of={conversation}
                      to={`/conversations/${conversation.id}${kept}`}
                      isOpen={conversation.id === open}
                      isReplacing={open !== undefined}
                      letter={n === at + 1 ? 'j' : n === at - 1 ? 'k' : undefined}
                      assignee={conversation.assignee && people.tell(conversation.assignee)}
                    />
                  </li>
                )
              })}
            </ul>
            <Pager page={page} />
          </>
        )}
      </Loaded>
    </section>
  )
}

interface ItemProps {
  of: Conversation
  to: string
  isOpen: boolean
  /** Stepping through the list leaves one entry in the history. */
  isReplacing: boolean
  /** The key that opens it. */
  letter: 'j' | 'k' | undefined
  assignee: string | null
}

function Item({ of, to, isOpen, isReplacing, letter, assignee }: ItemProps) {
  const { their_number: theirs, unread, state, last_message: last, last_reply_at: at, opt_out: optOut } = of
  return (
    <Link
      href={to}
      replace={isReplacing}
      className={unread > 0 ? 'inbox-item unread' : 'inbox-item'}
      aria-current={isOpen ? 'true' : undefined}
      data-key={letter}
    >
      <span className="inbox-line">
        <PhoneNumber of={theirs} />
        <span className="small">
          <Time at={at} />
        </span>
      </span>
      <span className="inbox-line">
        {/* Its first letter decides on which side a long text is cut. */}
        <span className="inbox-text" dir="auto">
          {last?.direction === 'outbound' && <span className="none">{last.automatic ? 'Auto-reply: ' : 'You: '}</span>}
          {last && <MessageText of={last} isShort />}
        </span>
        {unread > 0 && (
          <span className="count">
            {formatNumber(unread)}
            <span className="unseen"> unread</span>
          </span>
        )}
      </span>
      {(assignee !== null || state === 'closed' || optOut) && (
        <span className="inbox-line small">
          {assignee !== null && <span>Assigned to {assignee}</span>}
          {state === 'closed' && <Badge status="closed" />}
          {optOut && <Badge status="opted out" tone="bad" />}
        </span>
      )}
    </Link>
  )
}

const None = ({ isNarrowed, clear }: { isNarrowed: boolean; clear: () => void }) =>
  isNarrowed ? (
    <Empty title="No conversations found" action={<Button onClick={clear}>Clear filters</Button>}>
      No conversation matches these filters.
    </Empty>
  ) : (
    <Empty
      title="No open conversations"
      action={
        <LinkButton to="/messages/new" does="sendMessage">
          New message
        </LinkButton>
      }
    >
      A conversation starts when a person replies to one of your numbers.
    </Empty>
  )
