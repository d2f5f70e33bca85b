/** The routes of messages. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type, type Static } from 'typebox'
import { ApiError, invalid, type FieldError } from '../errors.ts'
import { problems, type App } from '../http.ts'
import { keyInProgress, readIdempotencyKey } from '../idempotency.ts'
import { parseId, showId } from '../ids.ts'
import { Places } from '../places.ts'
import { writeListInTurns } from '../requests/turns.ts'
import { objectOf, readSound, schemaErrorsOf, soundFieldsOf } from '../requests/faults.ts'
import { replayEstimate } from './accept/accepted.ts'
import type { Accepted, Draft } from './draft.ts'
import { listBatchFaults, sendBatch } from './accept/batch.ts'
import { cancelOne } from './cancel.ts'
import { changeMessage } from './change-message.ts'
import { conversationRoutes, type SendAs } from './conversations/http.ts'
import type { DraftContext } from './accept/draft.ts'
import { listKeptReceipts, tellReceipts } from './ledger/kept-receipts.ts'
import { messageListRoutes } from './lists/http.ts'
import { renderMessage, type MessageRow } from './message.ts'
import { findPlace } from './queue/place.ts'
import { previewRoute } from './accept/preview.ts'
import { BatchResult, Message, Timeline } from './schema.ts'
import { BatchBody } from './accept/batch-schema.ts'
import { explainRefusal, fingerprintOfSend, replayedRow, type MessagesContext } from './accept/send.ts'
import { findMissing, listSendFaults } from './accept/send-faults.ts'
import { findShortening } from './short-links/store.ts'
import { findOctets } from './octets.ts'
import { findKey, findMessage, listSubmissions } from './store.ts'
import { loadTemplates, noTemplates, readSend, SendInput } from './templates/send.ts'
import { buildTimeline } from './timeline.ts'

const IdParams = Type.Object({ id: Type.String({ maxLength: 255, description: 'Id of a message.' }) })
// Both paths of a send are one operation: a retry on the other path is a replay.
const sendOperation = 'messages.send'
const tags = ['Messages']
// Each may have 32 MiB and 10,000 messages.
const batchPlaces = new Places(2, 'batches under way')

export function messageRoutes(app: App, context: MessagesContext): void {
  const { db, acceptor } = context
  app.addSchema(Message)
  // Keys of sends that are being written by this process; another process' are caught by the statement.
  const running = new Set<string>()

  const send = (request: FastifyRequest<{ Body: SendInput }>, reply: FastifyReply): Promise<FastifyReply> =>
    sendAs(request, reply, request.body, sendOperation)

  const sendAs: SendAs = async (request, reply, body, operation) => {
    const { caller } = request
    const wrong = schemaErrorsOf(request)
    if (wrong.length > 0) throw invalid(await listFaults(request, body, wrong))
    const templates = body.template === undefined ? null : await loadTemplates(db, caller.accountId, [body])
    const checks = await draftContext(request, context, [body])
    const draft = readSend(body, templates ?? noTemplates, checks)
    const key = readIdempotencyKey(request)
    const idempotency = key === null ? null : { operation, key, fingerprint: fingerprintOfSend(caller, body) }
    if (Array.isArray(draft)) {
      // A retry is answered as the first time, though its `send_at` is over since, or its template has changed or gone.
      const known = key === null ? null : await findKey(db, caller.accountId, operation, key)
      if (!known) throw invalid([...draft, ...(await findMissing(context, body, draft, checks))])
      return answerReplay(request, reply, await replayedRow(db, { accountId: caller.accountId, idempotency }, known))
    }
    if (key === null) return answerSend(request, reply, draft, await acceptor.accept(draft))
    draft.idempotency = idempotency
    const scope = `${draft.accountId} ${operation} ${key}`
    if (running.has(scope)) throw keyInProgress()
    running.add(scope)
    try {
      return await answerSend(request, reply, draft, await acceptor.accept(draft))
    } finally {
      running.delete(scope)
    }
  }

  const listFaults = async (
    request: FastifyRequest,
    given: SendInput,
    wrong: readonly FieldError[],
  ): Promise<FieldError[]> => {
    const body = objectOf(given)
    const sound = [soundFieldsOf(body, wrong)]
    const templates = await loadTemplates(db, request.caller.accountId, sound)
    const checks = await draftContext(request, context, sound)
    const faults = listSendFaults(body, wrong, templates, checks)
    return [...faults, ...(await findMissing(context, body, faults, checks))]
  }

  const answerSend = async (
    request: FastifyRequest,
    reply: FastifyReply,
    draft: Draft,
    accepted: Accepted,
  ): Promise<FastifyReply> => {
    if (accepted.kind === 'refused') throw await explainRefusal(acceptor, draft, accepted)
    const hasBody = request.caller.scopes.has('messages:read_body')
    if (accepted.kind === 'accepted') {
      reply.code(202).header('location', `/v1/messages/${showId('msg', accepted.row.id)}`)
      return reply.send(renderMessage(accepted.row, accepted.estimatedSendAt, hasBody))
    }
    return answerReplay(request, reply, await replayedRow(db, draft, accepted))
  }

  const answerReplay = (request: FastifyRequest, reply: FastifyReply, row: MessageRow): FastifyReply => {
    const hasBody = request.caller.scopes.has('messages:read_body')
    reply
      .code(202)
      .header('location', `/v1/messages/${showId('msg', row.id)}`)
      .header('idempotency-replayed', 'true')
    return reply.send(renderMessage(row, replayEstimate(row), hasBody))
  }

  const sendSchema = {
    tags,
    body: SendInput,
    response: { 202: Type.Ref('Message'), ...problems(409, 413, 415, 429) },
  }
  const sendConfig = { scope: 'messages:write', operation: sendOperation, isFast: true } as const
  app.post(
    '/v1/messages/send',
    {
      schema: { ...sendSchema, operationId: 'sendMessage', summary: 'Send a message' },
      config: sendConfig,
      attachValidation: true,
    },
    send,
  )
  app.post(
    '/v1/messages',
    {
      schema: { ...sendSchema, operationId: 'createMessage', summary: 'Send a message (same as /v1/messages/send)' },
      config: sendConfig,
      attachValidation: true,
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
      config: { scope: 'messages:write', operation: 'messages.batch', checksItemsOf: 'messages', places: batchPlaces },
      bodyLimit: 32 * 1024 * 1024,
      attachValidation: true,
    },
    async (request, reply) => {
      const { sound, faults } = readSound(request)
      if (faults.length > 0) {
        const { messages = [] } = sound
        const checks = await draftContext(request, context, messages)
        throw invalid(await listBatchFaults(context, request, messages, faults, checks))
      }
      const key = readIdempotencyKey(request)
      if (key === null)
        throw new ApiError('invalid_header', {
          detail: 'A batch needs an Idempotency-Key, so that a retry cannot send it twice.',
        })
      const scope = `${request.caller.accountId} batch ${key}`
      if (running.has(scope)) throw keyInProgress()
      running.add(scope)
      try {
        const { body, isReplay } = await sendBatch(
          context,
          request,
          key,
          await draftContext(request, context, request.body.messages),
        )
        if (isReplay) reply.header('idempotency-replayed', 'true')
        const { results, ...head } = body
        const text = await writeListInTurns(head, 'results', results)
        return await reply
          .code(202)
          .type('application/json; charset=utf-8')
          .send(text as never)
      } finally {
        running.delete(scope)
      }
    },
  )

  previewRoute(app, context)
  conversationRoutes(app, context, sendAs)
  messageListRoutes(app, context)

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
      // Nobody knows when a pause ends.
      const estimate =
        place?.holdReason !== 'campaign_paused' && row.status === 'queued' && (place || !row.holdUntil)
          ? context.slots.estimateSendAt({ ...row, carrierId: place?.carrierId ?? null, ahead: place?.ahead })
          : null
      const shown = place ? { ...row, holdReason: place.holdReason } : row
      const hasBody = request.caller.scopes.has('messages:read_body')
      const octets = hasBody && row.direction === 'inbound' ? await findOctets(db, context.texts, row) : null
      return {
        ...renderMessage(shown, row.sentAt ? null : estimate, hasBody),
        ...(octets && { octets: octets.toString('hex') }),
      }
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
      const tries = await listSubmissions(db, row.accountId, row.id)
      const kept = await listKeptReceipts(db, row.accountId, row.id)
      return { data: buildTimeline(row, tries, tellReceipts(row, tries, kept)) }
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
      config: { scope: 'messages:write', operation: 'messages.cancel' },
    },
    async (request, reply) => {
      const postings = await changeMessage(context, request, reply, async (tx, id) => {
        const { accountId } = request.caller
        const canceled = id && (await cancelOne(tx, context, accountId, id))
        if (canceled && canceled.row !== null) return { row: canceled.row, postings: canceled.postings }
        const row = id && (await findMessage(tx, accountId, id))
        if (!row) throw new ApiError('not_found', { detail: 'There is no such message.' })
        // Whoever cancels a second time gets what the first time answered.
        if (row.status !== 'canceled') throw new ApiError('not_cancelable', { detail: `The message is ${row.status}.` })
        return { row }
      })
      context.outbox.offer(postings)
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

async function draftContext(
  request: FastifyRequest,
  { db, refuseUrl, shortUrl = null }: MessagesContext,
  bodies: readonly object[],
): Promise<DraftContext> {
  const { accountId, mode, defaultCountry = null } = request.caller
  const checks = { accountId, isTest: mode === 'test', defaultCountry, refuseUrl, shortUrl }
  return shortUrl === null ? checks : { ...checks, shortensByDefault: await findShortening(db, accountId, bodies) }
}
