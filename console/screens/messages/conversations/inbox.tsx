/** Conversations beside each other: the list, the open one, and the person. On a phone one of them at a time. */
import { useParams, useSearch } from 'wouter'
import { useCall } from '../../../api.ts'
import { useTitle } from '../../../kit/page.tsx'
import { OneConversation } from './conversation.tsx'
import { ConversationList } from './list.tsx'

const everyMs = 5000

export function InboxScreen() {
  const { id } = useParams()
  const search = useSearch()
  const unread = useCall('getSummary', {}, { every: everyMs }).data?.unread_conversations ?? 0
  useTitle(unread > 0 ? `(${unread}) Inbox` : 'Inbox')
  const filters = search && `?${search}`
  return (
    <div className={id === undefined ? 'inbox' : 'inbox one'}>
      <ConversationList open={id} filters={filters} />
      {id === undefined ? (
        <p className="inbox-none">
          Select a conversation, or press <kbd>j</kbd>
        </p>
      ) : (
        <OneConversation key={id} id={id} filters={filters} />
      )}
    </div>
  )
}
