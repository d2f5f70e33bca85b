/** The routes of messages. */
import { countSegments, cutSegments, joinParts, readPart } from '@heliogram/smpp'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type, type Static } from 'typebox'
import type { Db } from '../db/db.ts'
import { ApiError, invalid } from '../errors.ts'
import { PageOf, problems, type App } from '../http.ts'
import { fingerprintOf, keyInProgress, readIdempotencyKey } from '../idempotency.ts'
import { parseId, showId } from '../ids.ts'
import { buildPage, readCursor } from '../page.ts'
import type { Accepted } from './accept.ts'
import type { Draft } from './accepted.ts'
import { sendBatch } from './batch.ts'
import { cancelMessage } from './cancel.ts'
import { readDraft, warnOfText, type DraftContext } from './draft.ts'
import { readFilters } from './filters.ts'
import { renderMessage } from './message.ts'
import { readNumber } from './number.ts'
import { findPlace } from './place.ts'
import { BatchBody, BatchResult, Message, MessageQuery, Preview, PreviewBody, SendBody, Timeline } from './schema.ts'
import { refusalError, replayedRow, type MessagesContext } from './send.ts'
import { findMessage, listMessages, listSubmissions } from './store.ts'
import { buildTimeline } from './timeline.ts'

const IdParams = Type.Object({ id: Type.String({ maxLength: 255, description: 'Id of a message.' }) })
// Both paths of a send are one operation: a retry on the other path is a replay.
const sendOperation = 'messages.send'
const tags = ['Messages']

export function messageRoutes(app: App, context: MessagesContext): void {
  const { db, acceptor } = context
  app.addSchema(Message)
  // Keys of sends that are being written by this process; another process' are caught by the statement.
  const running = new Set<string>()

  const send = async (
    request: FastifyRequest<{ Body: Static<typeof SendBody> }>,
    reply: FastifyReply,
  ): Promise<FastifyReply> => {
    const draft = readDraft(request.body, draftContext(request, context))
    if (Array.isArray(draft)) throw invalid(draft)
    const key = readIdempotencyKey(request)
    if (key === null) return answerSend(request, reply, draft, await acceptor.accept(draft))
    draft.idempotency = { operation: sendOperation, key, fingerprint: fingerprintOf(request.body) }
    const scope = `${draft.accountId} ${key}`
    if (running.has(scope)) throw keyInProgress()
    running.add(scope)
    try {
      return await answerSend(request, reply, draft, await acceptor.accept(draft))
    } finally {
      running.delete(scope)
    }
  }

  const answerSend = async (
    request: FastifyRequest,
    reply: FastifyReply,
    draft: Draft,
    accepted: Accepted,
  ): Promise<FastifyReply> => {
    if (accepted.kind === 'refused') throw refusalError(accepted.refusal)
    const hasBody = request.caller.scopes.has('messages:read_body')
    if (accepted.kind === 'accepted') {
      reply.code(202).header('location', `/v1/messages/${showId('msg', accepted.row.id)}`)
      return reply.send(renderMessage(accepted.row, accepted.estimatedSendAt, hasBody))
    }
    const row = await replayedRow(db, draft, accepted)
    reply
      .code(202)
      .header('location', `/v1/messages/${showId('msg', row.id)}`)
      .header('idempotency-replayed', 'true')
    return reply.send(renderMessage(row, row.sendAt ?? row.createdAt, hasBody))
  }

  const sendSchema = {
    tags,
    body: SendBody,
    response: { 202: Type.Ref('Message'), ...problems(409, 413, 415, 429) },
  }
  const sendConfig = { scope: 'messages:write', operation: sendOperation } as const
  app.post(
    '/v1/messages/send',
    { schema: { ...sendSchema, operationId: 'sendMessage', summary: 'Send a message' }, config: sendConfig },
    send,
  )
  app.post(
    '/v1/messages',
    {
      schema: { ...sendSchema, operationId: 'createMessage', summary: 'Send a message (same as /v1/messages/send)' },
      config: sendConfig,
    },
    send,
  )

  app.post(
    '/v1/messages/batch',
    {
      schema: {
        operationId: 'sendBatch',
        summary: 'Send up to 10,000 messages; Idempotency-Key is required',
        tags,
        body: BatchBody,
        response: { 202: BatchResult, ...problems(409, 413, 415, 429) },
      },
      config: { scope: 'messages:write', operation: 'messages.batch' },
      bodyLimit: 32 * 1024 * 1024,
    },
    async (request, reply) => {
      const key = readIdempotencyKey(request)
      if (key === null)
        throw new ApiError('invalid_header', {
          detail: 'A batch needs an Idempotency-Key, so that a retry cannot send it twice.',
        })
      const scope = `${request.caller.accountId} batch ${key}`
      if (running.has(scope)) throw keyInProgress()
      running.add(scope)
      try {
        const { body, isReplay } = await sendBatch(context, request, key, draftContext(request, context))
        if (isReplay) reply.header('idempotency-replayed', 'true')
        return await reply.code(202).send(body)
      } finally {
        running.delete(scope)
      }
    },
  )

  app.post(
    '/v1/messages/preview',
    {
      schema: {
        operationId: 'previewMessage',
        summary: 'Encoding, segments and warnings of a text, without sending it',
        tags,
        body: PreviewBody,
        response: { 200: Preview, ...problems(413, 415) },
      },
      config: { scope: 'messages:read' },
    },
    async (request) => {
      const { message, to, encoding = 'auto' } = request.body
      const draft = readDraft({ message, to: to ?? '15551230001', encoding }, draftContext(request, context))
      if (Array.isArray(draft)) throw invalid(draft)
      const number = to === undefined ? null : readNumber(to, null)
      return {
        object: 'preview' as const,
        to: to === undefined ? null : draft.theirNumber,
        encoding: draft.encoding,
        characters: draft.characters,
        segments: draft.segments,
        parts: cutText(message, draft.encoding),
        warnings: [
          ...(number && 'number' in number ? number.warnings : []),
          ...warnOfText(message, {
            encoding: draft.encoding,
            characters: draft.characters,
            segments: draft.segments,
            units: 0,
          }),
        ],
        opted_out: to === undefined ? null : await isOptedOut(db, request.caller.accountId, draft.theirNumber),
      }
    },
  )

  app.get(
    '/v1/messages',
    {
      schema: {
        operationId: 'listMessages',
        summary: 'List messages, newest first',
        tags,
        querystring: MessageQuery,
        response: { 200: PageOf(Type.Ref('Message')), ...problems() },
      },
      config: { scope: 'messages:read' },
    },
    async (request) => {
      const { limit = 50, cursor, ...query } = request.query
      const { accountId, scopes } = request.caller
      const position = readCursor(cursor, query)
      const filters = await readFilters(db, accountId, query)
      const rows = filters === null ? [] : await listMessages(db, accountId, filters, position, limit)
      const page = buildPage(rows, limit, position, query)
      const hasBody = scopes.has('messages:read_body')
      return { ...page, data: page.data.map((row) => renderMessage(row, null, hasBody)) }
    },
  )

  app.get(
    '/v1/messages/:id',
    {
      schema: {
        operationId: 'getMessage',
        summary: 'Get a message',
        tags,
        params: IdParams,
        response: { 200: Type.Ref('Message'), ...problems(404) },
      },
      config: { scope: 'messages:read' },
    },
    async (request) => {
      const row = await requireMessage(request)
      const place = row.status === 'queued' ? await findPlace(db, row) : null
      const estimate =
        row.status === 'queued'
          ? context.slots.estimateSendAt(row.type, row.accountId, place?.carrierId ?? undefined, place?.ahead)
          : row.sendAt
      const shown = place ? { ...row, holdReason: place.holdReason } : row
      return renderMessage(shown, row.sentAt ? null : estimate, request.caller.scopes.has('messages:read_body'))
    },
  )

  app.get(
    '/v1/messages/:id/events',
    {
      schema: {
        operationId: 'getMessageTimeline',
        summary: 'What happened to a message, in order',
        tags,
        params: IdParams,
        response: { 200: Timeline, ...problems(404) },
      },
      config: { scope: 'messages:read' },
    },
    async (request) => {
      const row = await requireMessage(request)
      return { data: buildTimeline(row, await listSubmissions(db, row.accountId, row.id)) }
    },
  )

  app.post(
    '/v1/messages/:id/cancel',
    {
      schema: {
        operationId: 'cancelMessage',
        summary: 'Cancel a scheduled or queued message',
        tags,
        params: IdParams,
        response: { 200: Type.Ref('Message'), ...problems(404, 409) },
      },
      config: { scope: 'messages:write' },
    },
    async (request, reply) => {
      const { accountId, id } = await requireMessage(request)
      const row = (await cancelMessage(context, accountId, id)) ?? (await requireMessage(request))
      // Whoever cancels a second time gets what the first time answered.
      if (row.status !== 'canceled') throw new ApiError('not_cancelable', { detail: `The message is ${row.status}.` })
      return reply.send(renderMessage(row, null, request.caller.scopes.has('messages:read_body')))
    },
  )

  const requireMessage = async (
    request: FastifyRequest,
  ): Promise<NonNullable<Awaited<ReturnType<typeof findMessage>>>> => {
    const id = parseId('msg', (request.params as Static<typeof IdParams>).id)
    const row = id && (await findMessage(db, request.caller.accountId, id))
    if (!row) throw new ApiError('not_found', { detail: 'There is no such message.' })
    return row
  }
}

function draftContext(request: FastifyRequest, context: MessagesContext): DraftContext {
  const { accountId, mode } = request.caller
  return { accountId, isTest: mode === 'test', defaultCountry: null, refuseUrl: context.refuseUrl }
}

/** The text of each segment, decoded from the very octets that would be submitted. */
function cutText(text: string, encoding: 'GSM-7' | 'UCS-2'): { text: string; characters: number }[] {
  const pdus = cutSegments(text, { encoding: encoding === 'GSM-7' ? 'gsm7' : 'ucs2', mode: 'udh8', reference: 0 })
  return pdus.map((pdu) => {
    const part = joinParts([{ ...readPart(pdu), concatenation: null }]).text ?? ''
    return { text: part, characters: countSegments(part).characters }
  })
}

async function isOptedOut(db: Db, accountId: string, number: string): Promise<boolean> {
  const { rowCount } = await db.query('select 1 from opt_outs where account_id = $1 and number = $2', [
    accountId,
    number,
  ])
  return rowCount === 1
}
