import type { FastifyRequest } from 'fastify'
import { Type, type Static } from 'typebox'
import type { Queryable } from '../ground/db/db.ts'
import { ApiError, found, invalid, type FieldError } from '../ground/base/errors.ts'
import { PageOf, pageQuery, problems, type App } from '../ground/http/http.ts'
import { idempotent, type Outcome } from '../ground/http/idempotency.ts'
import { parseId } from '../ground/base/ids.ts'
import { takeMark } from '../ground/http/mark.ts'
import { buildPage, readCursor } from '../ground/http/page.ts'
import { Faults, readQuery } from '../ground/http/faults.ts'
import type { Vault } from '../ground/sealing/vault.ts'
import { Conversation, showConversation } from './conversation.ts'
import { changeConversation, ConversationChange } from './change.ts'
import { searchConversations } from './search.ts'
import {
  findConversation,
  listConversations,
  markRead,
  type ConversationFilters,
  type ConversationRow,
} from './store.ts'
import { allMessages, listMessages, readingOf } from '../messages/list.ts'
import { renderMessage } from '../message/show.ts'
import { withHolds } from '../queue/place.ts'
import { readNumberFilter } from '../ground/numbers/filter.ts'
import { findOptOuts } from '../message/opted-out.ts'
import { findCampaignId, findMessage, readMessages } from '../message/store.ts'
import { SendInput } from '../accept/read-send.ts'
import { openSend } from '../accept/send-http.ts'
import type { MessagesContext } from '../accept/send.ts'

const params = Type.Object({
  conversation: Type.String({ maxLength: 255, description: 'Id of a conversation.' }),
})
const number = (description: string) => Type.Optional(Type.String({ maxLength: 40, description }))

const query = Type.Object(
  {
    ...pageQuery,
    state: Type.Optional(Type.Enum(['open', 'closed'], { description: 'Open or closed conversations.' })),
    search: Type.Optional(
      Type.String({
        minLength: 2,
        maxLength: 100,
        description:
          'Conversations whose number has these digits, or whose number and last message contain all of these words, or parts of words, ignoring case and accents. Texts need the scope messages:read_body; earlier messages and redacted ones are not searched.',
        examples: ['table for six'],
      }),
    ),
    unread: Type.Optional(Type.Boolean({ description: 'Conversations with or without unread replies.' })),
    assignee: Type.Optional(Type.String({ maxLength: 255, description: 'Id of a user; `none`: unassigned.' })),
    our_number: number('Conversations with this number of yours.'),
    their_number: number('Conversations with this person.'),
    campaign: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 255,
        description: 'Id or key of a campaign: conversations whose last reply to a campaign was to this one.',
        examples: ['spring-sale'],
      }),
    ),
  },
  { additionalProperties: false },
)

const { to: _to, from: _from, sender_pool: _pool, ...replyFields } = SendInput.properties
const ReplyBody = Type.Object(replyFields, {
  additionalProperties: false,
  anyOf: [{ required: ['message'] }, { required: ['template'] }],
  examples: [{ message: 'Until six.' }],
})

export function conversationRoutes(app: App, context: MessagesContext): void {
  const { db, vault } = context
  app.addSchema(Conversation)

  app.get(
    '/v1/conversations',
    {
      schema: {
        operationId: 'listConversations',
        summary: 'List conversations',
        description:
          'Sorted by the last reply. Filters can be combined. A page checks 200,000 conversations at most, with `search` 2000: if few match, it can be short or empty and still have a `next_cursor`.',
        querystring: query,
        response: { 200: PageOf(Type.Ref('Conversation')), ...problems() },
      },
      config: { scope: 'messages:read' },
      attachValidation: true,
    },
    async (request) => {
      const { limit = 50, cursor, ...asked } = request.query
      const { accountId, scopes } = request.caller
      const mark = ['conversations', asked]
      const filters = await readQuery(request, (query) => readConversationFilters(db, accountId, query))
      const position = readCursor(cursor, mark)
      const taken = await takeMark(db)
      const { search } = asked
      const what = search === undefined ? null : { search, hasBody: scopes.has('messages:read_body') }
      const { rows, edge = null } = what
        ? await searchConversations(db, accountId, filters, what, position, limit)
        : await listConversations(db, accountId, filters, position, limit)
      // Pages follow the last replies: a conversation with a new reply appears again after the refresh cursor.
      const page = buildPage(
        rows.map((row) => ({ id: row.lastReplyId, row })),
        limit,
        position,
        mark,
        { mark: taken, edge },
      )
      const found = page.data.map(({ row }) => row)
      return { ...page, data: await show(db, vault, request, found) }
    },
  )

  app.get(
    '/v1/conversations/:conversation',
    {
      schema: {
        operationId: 'getConversation',
        summary: 'Get a conversation',
        params,
        response: { 200: Type.Ref('Conversation'), ...problems(404) },
      },
      config: { scope: 'messages:read' },
    },
    async (request) => showOne(db, vault, request, await readConversation(db, request)),
  )

  app.post(
    '/v1/conversations/:conversation/read',
    {
      schema: {
        operationId: 'markConversationRead',
        summary: 'Mark a conversation as read',
        params,
        body: Type.Object(
          {
            last_message: Type.Optional(
              Type.String({
                maxLength: 255,
                description: 'Id of the last message that was read: later replies stay unread. Default: all are read.',
              }),
            ),
          },
          { additionalProperties: false, examples: [{}] },
        ),
        response: { 200: Type.Ref('Conversation'), ...problems(404, 409) },
      },
      config: { scope: 'messages:write' },
    },
    (request, reply) =>
      idempotent(context, request, reply, async (tx): Promise<Outcome> => {
        const { accountId } = request.caller
        const { id, lastReplyId } = await readConversation(tx, request)
        const { last_message: last } = request.body
        const lastReadId = last === undefined ? lastReplyId : parseId('msg', last)
        if (lastReadId === null || (last !== undefined && !(await findMessage(tx, accountId, lastReadId))))
          throw invalid([{ pointer: '#/last_message', code: 'invalid_value', detail: 'is not the id of a message' }])
        await markRead(tx, accountId, id, lastReadId)
        return { status: 200, body: await showOne(tx, vault, request, await readConversation(tx, request)) }
      }),
  )

  app.patch(
    '/v1/conversations/:conversation',
    {
      schema: {
        operationId: 'updateConversation',
        summary: 'Assign, close or reopen a conversation',
        params,
        body: ConversationChange,
        response: { 200: Type.Ref('Conversation'), ...problems(404, 409) },
      },
      config: { scope: 'messages:write' },
      attachValidation: true,
    },
    (request, reply) =>
      idempotent(context, request, reply, async (tx): Promise<Outcome> => {
        const { id } = await readConversation(tx, request)
        await changeConversation(tx, request.caller, id, request.body, new Faults(request))
        return { status: 200, body: await showOne(tx, vault, request, await readConversation(tx, request)) }
      }),
  )
  conversationMessageRoutes(app, context)
}

function conversationMessageRoutes(app: App, context: MessagesContext): void {
  const { db } = context
  const sendAs = openSend(context)

  app.get(
    '/v1/conversations/:conversation/messages',
    {
      schema: {
        operationId: 'listConversationMessages',
        summary: 'List messages of a conversation',
        params,
        querystring: Type.Object(pageQuery, { additionalProperties: false }),
        response: { 200: PageOf(Type.Ref('Message')), ...problems(404) },
      },
      config: { scope: 'messages:read' },
    },
    async (request) => {
      const { limit = 50, cursor } = request.query
      const { accountId, scopes } = request.caller
      const { id, theirNumber, ourNumber } = await readConversation(db, request)
      const mark = ['conversation', id]
      const position = readCursor(cursor, mark)
      const filters = { ...allMessages, theirNumber, ourNumber }
      const taken = await takeMark(db)
      const { rows, edge } = await listMessages(db, accountId, filters, readingOf(position), limit)
      const page = buildPage(rows, limit, position, mark, { edge, mark: taken })
      const shown = await withHolds(db, accountId, page.data)
      return { ...page, data: shown.map((row) => renderMessage(row, null, scopes.has('messages:read_body'))) }
    },
  )

  app.post(
    '/v1/conversations/:conversation/messages',
    {
      schema: {
        operationId: 'replyInConversation',
        summary: 'Reply in a conversation',
        params,
        body: ReplyBody,
        response: { 202: Type.Ref('Message'), ...problems(404, 409, 413, 415, 429) },
      },
      config: { scope: 'messages:write', testKeys: 'sends tests' },
      attachValidation: true,
    },
    async (request, reply) => {
      const { theirNumber, ourNumber } = await readConversation(db, request)
      const body = { ...request.body, to: theirNumber, from: ourNumber }
      return sendAs(request, reply, body, 'conversations.reply').catch((error: unknown) => {
        throw ofConversation(error, { '#/to': theirNumber, '#/from': ourNumber })
      })
    },
  )
}

/** Reports a refusal of the numbers, which the body does not have, as a refusal of the conversation. */
function ofConversation(error: unknown, numbers: Readonly<Record<string, string>>): unknown {
  if (!(error instanceof ApiError) || error.code !== 'validation_failed') return error
  const told = (error.options.errors ?? []).map((one): FieldError => {
    const number = one.code === 'unknown_field' ? undefined : numbers[one.pointer]
    return number === undefined
      ? one
      : { pointer: '#', code: one.code, detail: `${number}, a number of the conversation, ${one.detail}` }
  })
  return invalid(told)
}

async function readConversation(db: Queryable, request: FastifyRequest): Promise<ConversationRow> {
  const id = parseId('cnv', (request.params as { conversation: string }).conversation)
  return found(id && (await findConversation(db, request.caller.accountId, id)), 'There is no such conversation.')
}

async function readConversationFilters(
  db: Queryable,
  accountId: string,
  asked: Partial<Static<typeof query>>,
): Promise<ConversationFilters> {
  const faults: FieldError[] = []
  const assignee =
    asked.assignee === undefined || asked.assignee === 'none' ? asked.assignee : parseId('usr', asked.assignee)
  if (assignee === null)
    faults.push({ pointer: '?assignee', code: 'invalid_value', detail: 'must be the id of a user, or none' })
  const ourNumber = readNumberFilter('our_number', asked.our_number, 'address', faults)
  const theirNumber = readNumberFilter('their_number', asked.their_number, 'person', faults)
  const campaignId = asked.campaign === undefined ? null : await findCampaignId(db, accountId, asked.campaign)
  if (asked.campaign !== undefined && campaignId === null)
    faults.push({ pointer: '?campaign', code: 'campaign_not_found', detail: 'is not a campaign of this account' })
  if (faults.length > 0) throw invalid(faults)
  return {
    isUnread: asked.unread ?? null,
    isOpen: asked.state === undefined ? null : asked.state === 'open',
    assignee: assignee ?? null,
    ourNumber,
    theirNumber,
    campaignId,
  }
}

type Shown = ReturnType<typeof showConversation>

async function show(
  db: Queryable,
  vault: Vault,
  { caller }: FastifyRequest,
  rows: readonly ConversationRow[],
): Promise<Shown[]> {
  const { accountId, scopes } = caller
  const keys = rows.flatMap(({ lastMessageId: id }) => (id === null ? [] : [{ accountId, id }]))
  const messages = await withHolds(db, accountId, [...(await readMessages(db, keys)).values()])
  const last = new Map(messages.map((message) => [message.id, message]))
  const numbers = [...new Set(rows.map(({ theirNumber }) => theirNumber))]
  const optOuts = await findOptOuts(db, vault, accountId, numbers)
  return rows.map((row) => {
    const message = last.get(row.lastMessageId ?? '') ?? null
    return showConversation(row, message, optOuts.get(row.theirNumber) ?? null, scopes.has('messages:read_body'))
  })
}

async function showOne(db: Queryable, vault: Vault, request: FastifyRequest, row: ConversationRow): Promise<Shown> {
  const [shown] = await show(db, vault, request, [row])
  if (!shown) throw new Error('one conversation was shown')
  return shown
}
