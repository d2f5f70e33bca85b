import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { ApiError, invalid, type FieldError } from '../ground/base/errors.ts'
import { problems, type App } from '../ground/http/http.ts'
import { keyInProgress, readIdempotencyKey } from '../ground/http/idempotency.ts'
import { showId } from '../ground/base/ids.ts'
import { Places } from '../ground/http/places.ts'
import { Faults } from '../ground/http/faults.ts'
import { writeListInTurns } from '../ground/http/turns.ts'
import type { Accepted, Draft } from '../message/draft.ts'
import type { MessageRow } from '../message/message.ts'
import { renderMessage } from '../message/show.ts'
import { findShortening } from '../short-links/store.ts'
import { findKey } from '../message/store.ts'
import { loadTemplates, noTemplates, readSend, SendInput } from './read-send.ts'
import { replayEstimate } from './accepted.ts'
import { BatchBody, BatchResult } from './batch-schema.ts'
import { listBatchFaults, sendBatch } from './batch.ts'
import type { DraftContext } from './draft.ts'
import { previewRoute } from './preview.ts'
import { findMissing, listSendFaults } from './send-faults.ts'
import { explainRefusal, fingerprintOfSend, replayedRow, type MessagesContext } from './send.ts'

// Both paths of a send are one operation: a retry on the other path is a replay.
const sendOperation = 'messages.send'
// Each may have 32 MiB and 10,000 messages.
const batchPlaces = new Places(2, 'batches in progress')

/** Sends a body as `POST /v1/messages/send` does, under the idempotency keys of another operation. */
export type SendAs = (
  request: FastifyRequest,
  reply: FastifyReply,
  body: SendInput,
  operation: string,
) => Promise<FastifyReply>

export function sendRoutes(app: App, context: MessagesContext): void {
  const sendAs = openSend(context)
  const send = (request: FastifyRequest<{ Body: SendInput }>, reply: FastifyReply): Promise<FastifyReply> =>
    sendAs(request, reply, request.body, sendOperation)
  const sendSchema = {
    body: SendInput,
    response: { 202: Type.Ref('Message'), ...problems(409, 413, 415, 429) },
  }
  const sendConfig = { scope: 'messages:write', testKeys: 'sends tests', isFast: true } as const
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

  // Keys of batches that this process is writing; the statement catches those of other processes.
  const running = new Set<string>()

  app.post(
    '/v1/messages/batch',
    {
      schema: {
        operationId: 'sendBatch',
        summary: 'Send a batch of up to 10,000 messages',
        body: BatchBody,
        response: { 202: BatchResult, ...problems(409, 413, 415, 429) },
      },
      config: { scope: 'messages:write', testKeys: 'sends tests', checksItemsOf: 'messages', places: batchPlaces },
      bodyLimit: 32 * 1024 * 1024,
      attachValidation: true,
    },
    async (request, reply) => {
      if (request.validationError) {
        const faults = new Faults(request)
        const { messages = [] } = faults.sound(request.body)
        const checks = await draftContext(request, context, messages)
        throw invalid(await listBatchFaults(context, request, messages, faults.all, checks))
      }
      const key = readIdempotencyKey(request)
      if (key === null)
        throw new ApiError('invalid_header', {
          detail: 'A batch requires an Idempotency-Key, so that a retry does not send it twice.',
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
}

export function openSend(context: MessagesContext): SendAs {
  const { db, acceptor } = context
  // Keys of sends that this process is writing; the statement catches those of other processes.
  const running = new Set<string>()

  const sendAs: SendAs = async (request, reply, body, operation) => {
    const { caller } = request
    if (request.validationError) throw invalid(await listFaults(request, body))
    const templates = body.template === undefined ? null : await loadTemplates(db, caller.accountId, [body])
    const checks = await draftContext(request, context, [body])
    const draft = readSend(body, templates ?? noTemplates, checks)
    const key = readIdempotencyKey(request)
    const idempotency = key === null ? null : { operation, key, fingerprint: fingerprintOfSend(caller, body) }
    if (Array.isArray(draft)) {
      // A retry gets the first answer, even if its `send_at` has passed or its template has changed.
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

  const listFaults = async (request: FastifyRequest, body: SendInput): Promise<FieldError[]> => {
    const known = new Faults(request)
    const sound = [known.sound(body)]
    const templates = await loadTemplates(db, request.caller.accountId, sound)
    const checks = await draftContext(request, context, sound)
    const faults = listSendFaults(body, known.all, templates, checks)
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

  return sendAs
}

async function draftContext(
  request: FastifyRequest,
  { db, refuseUrl, shortUrl = null }: MessagesContext,
  bodies: readonly object[],
): Promise<DraftContext> {
  const { accountId, mode, defaultCountry = null, senderCountry } = request.caller
  const checks = { accountId, isTest: mode === 'test', defaultCountry, senderCountry, refuseUrl, shortUrl }
  return shortUrl === null ? checks : { ...checks, shortensByDefault: await findShortening(db, accountId, bodies) }
}
