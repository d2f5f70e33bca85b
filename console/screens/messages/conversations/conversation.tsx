import { useEffect } from 'react'
import { Link } from 'wouter'
import { useAction, useCall } from '../../../api.ts'
import { Button, LinkButton } from '../../../kit/button.tsx'
import { Allowed, useMay } from '../../../kit/may.tsx'
import { useFilters } from '../../../kit/filters.tsx'
import { Loaded } from '../../../kit/page.tsx'
import { Problem } from '../../../kit/problem.tsx'
import { PhoneNumber, Time } from '../../../kit/show.tsx'
import { Assignee } from './assignee.tsx'
import { OptedOut } from './opted-out.tsx'
import { usePeople } from './people.ts'
import { Person } from './person.tsx'
import { ReplyBox } from './reply.tsx'
import { StateButton } from './state.tsx'
import { Thread } from './thread.tsx'

const everyMs = 2000
/** Messages shown at first, and more per request for earlier ones, up to the API's longest page. */
const step = 50
const most = 200
/** Replies count as read after so long on the screen: stepping through the list reads nothing. Milliseconds. */
const readAfterMs = 1500

export function OneConversation({ id, filters: kept }: { id: string; filters: string }) {
  const path = { conversation: id }
  const { filters, set } = useFilters(['shown'])
  const limit = Math.min(Number(filters.shown) || step, most)
  const call = useCall('getConversation', { path }, { every: 2 * everyMs })
  const messages = useCall('listConversationMessages', { path, query: { limit } }, { every: everyMs })
  const people = usePeople()
  const conversation = call.data?.id === id ? call.data : undefined
  const last = messages.data?.data[0]?.id
  const unread = conversation?.unread ?? 0
  useReading(id, unread, last)
  return (
    <article className="conversation" aria-label="Conversation">
      <header>
        <Link href={`/conversations${kept}`} className="back">
          ← Inbox
        </Link>
        <div>
          <h1>{conversation ? <PhoneNumber of={conversation.their_number} /> : 'Conversation'}</h1>
          {conversation && conversation.closed_at !== null && (
            <p className="small none">
              Closed <Time at={conversation.closed_at} />
              {conversation.closed_by !== null && ` by ${people.tell(conversation.closed_by)}`}
            </p>
          )}
        </div>
        {conversation && (
          <div className="actions">
            <Allowed to="updateConversation">
              <Assignee of={conversation} />
            </Allowed>
            <StateButton of={conversation} last={last} />
          </div>
        )}
      </header>
      <div className="conversation-main">
        {call.error && <Problem of={call.error} />}
        <Loaded call={messages}>
          {({ data, has_more: hasMore }) => (
            <Thread messages={data} unread={unread}>
              {hasMore &&
                (limit < most ? (
                  <Button kind="quiet" onClick={() => set('shown', String(limit + step))}>
                    Earlier messages
                  </Button>
                ) : (
                  conversation && (
                    <LinkButton to={`/messages?to=${conversation.their_number}`} kind="quiet">
                      Earlier messages are in the list of messages
                    </LinkButton>
                  )
                ))}
            </Thread>
          )}
        </Loaded>
        {conversation?.opt_out && <OptedOut of={conversation} />}
        {conversation && !conversation.opt_out && (
          <Allowed to="replyInConversation">
            <ReplyBox conversation={conversation} />
          </Allowed>
        )}
      </div>
      {conversation && <Person of={conversation} />}
    </article>
  )
}

/** Marks what is on the screen as read. */
function useReading(id: string, unread: number, last: string | undefined): void {
  const { run } = useAction('markConversationRead')
  const may = useMay('markConversationRead')
  useEffect(() => {
    if (!may || unread === 0 || last === undefined) return undefined
    const timer = setInterval(() => {
      if (document.visibilityState !== 'visible') return
      clearInterval(timer)
      void run({ path: { conversation: id }, body: { last_message: last } })
    }, readAfterMs)
    return () => clearInterval(timer)
    // `run` changes with each rendering.
  }, [id, unread, last, may])
}
