/** A conversation: messages between a person and one of our numbers, from the person's first reply on. */
import { Type, type Static } from 'typebox'
import { IdOf, Nullable, Timestamp } from '../ground/http/http.ts'
import { showId } from '../ground/base/ids.ts'
import type { ConversationRow } from './store.ts'
import type { MessageRow } from '../message/message.ts'
import { renderMessage } from '../message/show.ts'
import type { KnownOptOut } from '../message/opted-out.ts'

export const Conversation = Type.Object(
  {
    id: IdOf('cnv', 'Id of the conversation; the same for the same two numbers.'),
    object: Type.Literal('conversation'),
    our_number: Type.String(),
    their_number: Type.String(),
    campaign: Nullable(Type.String({ description: 'Campaign of the last reply to a message of a campaign.' })),
    contact: Nullable(Type.String()),
    unread: Type.Integer({
      minimum: 0,
      description: 'Unread replies; STOP, START and HELP do not count.',
    }),
    last_message: Nullable(Type.Ref('Message')),
    state: Type.Enum(['open', 'closed'], { description: 'A reply opens it again, unless it is STOP, START or HELP.' }),
    closed_at: Nullable(Timestamp('When it was closed; null: it is open.')),
    closed_by: Nullable(Type.String({ description: 'Id of the user or API key that closed it.' })),
    assignee: Nullable(IdOf('usr', 'The assignee.')),
    opt_out: Nullable(
      Type.Object(
        {
          source: Type.String({ description: 'Its source, as in the list of opt-outs.' }),
          message: Nullable(IdOf('msg', 'The reply, if it came from one.')),
          created_at: Timestamp('Since when nothing is sent to the number.'),
        },
        { description: 'The opt-out of the person, to whom nothing can be sent. Null: the person has not opted out.' },
      ),
    ),
    last_reply_at: Timestamp('When the person last sent a message.'),
    created_at: Timestamp('When the person first sent a message.'),
  },
  { $id: 'Conversation' },
)

/** `hasBody` false hides the text of its last message. */
export function showConversation(
  row: ConversationRow,
  lastMessage: MessageRow | null,
  optOut: KnownOptOut | null,
  hasBody: boolean,
): Omit<Static<typeof Conversation>, 'last_message'> & { last_message: Record<string, unknown> | null } {
  return {
    id: showId('cnv', row.id),
    object: 'conversation',
    our_number: row.ourNumber,
    their_number: row.theirNumber,
    campaign: row.campaignId && showId('cmp', row.campaignId),
    contact: row.contactId && showId('ctc', row.contactId),
    unread: row.unread,
    last_message: lastMessage && renderMessage(lastMessage, null, hasBody),
    state: row.closedAt ? 'closed' : 'open',
    closed_at: row.closedAt?.toISOString() ?? null,
    closed_by: row.closedBy,
    assignee: row.assignee && showId('usr', row.assignee),
    opt_out: optOut && {
      source: optOut.source,
      message: optOut.messageId && showId('msg', optOut.messageId),
      created_at: optOut.createdAt.toISOString(),
    },
    last_reply_at: row.lastReplyAt.toISOString(),
    created_at: row.createdAt.toISOString(),
  }
}
