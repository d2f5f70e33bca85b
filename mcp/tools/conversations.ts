import type { Conversation } from '@heliogram/sdk'
import { z } from 'zod'
import { MessageShape, showMessage, textMaxOfLists } from '../message.ts'
import { showNumber, type Numbers } from '../untrusted.ts'
import { defineReading, id, nextCursor, paging, phoneNumber } from '../tool.ts'

const ConversationShape = z.object({
  id: z.string(),
  person: z.string().describe('Masked unless the server was started with --show-numbers.'),
  our_number: z.string(),
  campaign: z.string().nullable(),
  unread: z.number().describe('Unread replies.'),
  assignee: z.string().nullable().describe('The assignee.'),
  opted_out_at: z.string().nullable().describe('When the person opted out; then nothing can be sent.'),
  last_message: MessageShape.nullable(),
  last_reply_at: z.string(),
})

const showConversation = (one: Conversation, numbers: Numbers): z.infer<typeof ConversationShape> => ({
  ...one,
  person: showNumber(one.their_number, numbers),
  opted_out_at: one.opt_out?.created_at ?? null,
  last_message: one.last_message && showMessage(one.last_message, numbers, textMaxOfLists),
})

export const listConversations = defineReading({
  name: 'list_conversations',
  title: 'List conversations',
  description:
    'Lists conversations with people, sorted by the last reply. Use it to see who is waiting for a reply (unread=true), or what one person wrote.',
  scopes: ['messages:read'],
  input: z.strictObject({
    unread: z.boolean().optional().describe('true: conversations with unread replies.'),
    number: phoneNumber.optional().describe('Conversations with this person, such as 15551234567.'),
    campaign: id('Id or key of a campaign that the last reply was to', 'cmp_… or spring-sale').optional(),
    ...paging,
  }),
  output: z.object({ conversations: z.array(ConversationShape), next_cursor: nextCursor }),
  async read({ client, signal, numbers }, { number, ...filters }) {
    const page = await client.call('listConversations', { query: { ...filters, their_number: number } }, { signal })
    return {
      conversations: page.data.map((one) => showConversation(one, numbers)),
      next_cursor: page.next_cursor,
    }
  },
})

/** Characters of all texts on a page: fewer messages each show more. */
const textsMax = 20_000

export const readConversation = defineReading({
  name: 'read_conversation',
  title: 'Get a conversation',
  description:
    'Returns one conversation and its messages in both directions, newest first. It stays unread. Use it before you reply with reply_in_conversation.',
  scopes: ['messages:read'],
  input: z.strictObject({ conversation: id('Id of a conversation', 'cnv_…'), ...paging }),
  output: z.object({ conversation: ConversationShape, messages: z.array(MessageShape), next_cursor: nextCursor }),
  async read({ client, signal, numbers }, { conversation, ...query }) {
    const path = { conversation }
    const [one, page] = await Promise.all([
      client.call('getConversation', { path }, { signal }),
      client.call('listConversationMessages', { path, query }, { signal }),
    ])
    return {
      conversation: showConversation(one, numbers),
      messages: page.data.map((message) => showMessage(message, numbers, textsMax / query.limit)),
      next_cursor: page.next_cursor,
    }
  },
})
