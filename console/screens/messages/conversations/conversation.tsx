import { Link, useParams } from 'wouter'
import { useAction, useCall } from '../../../api.ts'
import { Button, LinkButton } from '../../../kit/button.tsx'
import { Allowed } from '../../../kit/may.tsx'
import { useFilters } from '../../../kit/filters.tsx'
import { Loaded, Page } from '../../../kit/page.tsx'
import { Problem } from '../../../kit/problem.tsx'
import { PhoneNumber, Time } from '../../../kit/show.tsx'
import { tellPerson } from '../status.ts'
import { Assignee } from './assignee.tsx'
import { usePeople } from './people.ts'
import { OptedOut } from './opted-out.tsx'
import { ReplyBox } from './reply.tsx'
import { StateButton } from './state.tsx'
import { Thread } from './thread.tsx'

const everyMs = 2000
/** Messages shown at first, and more per request for earlier ones, up to the API's longest page. */
const step = 50
const most = 200

export function ConversationScreen() {
  const { id = '' } = useParams()
  return <OneConversation key={id} id={id} />
}

function OneConversation({ id }: { id: string }) {
  const path = { conversation: id }
  const { filters, set } = useFilters(['shown'])
  const limit = Math.min(Number(filters.shown) || step, most)
  const call = useCall('getConversation', { path }, { every: 2 * everyMs })
  const messages = useCall('listConversationMessages', { path, query: { limit } }, { every: everyMs })
  const read = useAction('markConversationRead')
  const people = usePeople()
  const conversation = call.data
  const last = messages.data?.data[0]?.id
  const markRead = () => read.run({ path, body: last === undefined ? {} : { last_message: last } })
  return (
    <Page
      title={conversation ? tellPerson(conversation.their_number) : 'Conversation'}
      back={{ to: '/conversations', title: 'Inbox' }}
      lead={
        conversation && (
          <>
            With your <PhoneNumber of={conversation.our_number} />, since <Time at={conversation.created_at} />
            {conversation.campaign && (
              <>
                {' · '}
                <Link href={`/campaigns/${conversation.campaign}`}>its campaign</Link>
              </>
            )}
            {conversation.closed_at !== null && (
              <>
                {' · closed '}
                <Time at={conversation.closed_at} />
                {conversation.closed_by !== null && ` by ${people.tell(conversation.closed_by)}`}
              </>
            )}
          </>
        )
      }
      actions={
        conversation && (
          <>
            <Allowed to="updateConversation">
              <Assignee of={conversation} />
            </Allowed>
            {conversation.unread > 0 && (
              <Button does="markConversationRead" isBusy={read.isBusy} onClick={() => void markRead()}>
                Mark {conversation.unread} as read
              </Button>
            )}
            <StateButton of={conversation} last={last} />
          </>
        )
      }
    >
      {call.error && <Problem of={call.error} />}
      {read.problem && <Problem of={read.problem} />}
      <Loaded call={messages}>
        {({ data, has_more: hasMore }) => (
          <>
            {hasMore && (
              <div className="earlier">
                {limit < most ? (
                  <Button kind="quiet" onClick={() => set('shown', String(limit + step))}>
                    Earlier messages
                  </Button>
                ) : (
                  conversation && (
                    <LinkButton to={`/messages?to=${conversation.their_number}`} kind="quiet">
                      Earlier messages are in the list of messages
                    </LinkButton>
                  )
                )}
              </div>
            )}
            <Thread messages={data} unread={conversation?.unread ?? 0} />
          </>
        )}
      </Loaded>
      {conversation?.opt_out && <OptedOut of={conversation} />}
      {conversation && !conversation.opt_out && (
        <Allowed to="replyInConversation">
          <ReplyBox conversation={conversation} onSent={markRead} />
        </Allowed>
      )}
    </Page>
  )
}
