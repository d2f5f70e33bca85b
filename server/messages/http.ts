/** The routes of messages; those that send are in `accept/send-http.ts`. */
import { Type } from 'typebox'
import { ApiError } from '../ground/base/errors.ts'
import { problems, type App } from '../ground/http/http.ts'
import { cancelOne } from './cancel.ts'
import { changeMessage } from './change-message.ts'
import { listStoredReceipts, tellReceipts } from '../ledger/stored-receipts.ts'
import { messageListRoutes } from './list-http.ts'
import { renderMessage } from '../message/show.ts'
import { findPlace } from '../queue/place.ts'
import { Message, Timeline } from './schema.ts'
import type { MessagesContext } from '../accept/send.ts'
import { sendRoutes } from '../accept/send-http.ts'
import { findOctets } from '../message/octets.ts'
import { listSubmissions, requireMessage } from '../message/store.ts'
import { buildTimeline } from './timeline.ts'

const IdParams = Type.Object({ id: Type.String({ maxLength: 255, description: 'Id of a message.' }) })

export function messageRoutes(app: App, context: MessagesContext): void {
  const { db } = context
  app.addSchema(Message)
  sendRoutes(app, context)
  messageListRoutes(app, context)

  app.get(
    '/v1/messages/:id',
    {
      schema: {
        operationId: 'getMessage',
        summary: 'Get a message',
        params: IdParams,
        response: { 200: Type.Ref('Message'), ...problems(404) },
      },
      config: { scope: 'messages:read' },
    },
    async (request) => {
      const row = await requireMessage(db, request.caller.accountId, request.params.id)
      const place = row.status === 'queued' ? await findPlace(db, row) : null
      // The end of a pause is unknown.
      const estimate =
        place?.holdReason !== 'campaign_paused' && row.status === 'queued' && (place || !row.holdUntil)
          ? context.ownLinks.estimateSendAt({ ...row, carrierId: place?.carrierId ?? null, ahead: place?.ahead })
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
        summary: 'List the history of a message',
        params: IdParams,
        response: { 200: Timeline, ...problems(404) },
      },
      config: { scope: 'messages:read' },
    },
    async (request) => {
      const row = await requireMessage(db, request.caller.accountId, request.params.id)
      const tries = await listSubmissions(db, row.accountId, row.id)
      const kept = await listStoredReceipts(db, row.accountId, row.id)
      return { data: buildTimeline(row, tries, tellReceipts(row, tries, kept)) }
    },
  )

  app.post(
    '/v1/messages/:id/cancel',
    {
      schema: {
        operationId: 'cancelMessage',
        summary: 'Cancel a message',
        params: IdParams,
        response: { 200: Type.Ref('Message'), ...problems(404, 409) },
      },
      config: { scope: 'messages:write', testKeys: 'is of tests' },
    },
    async (request, reply) => {
      const postings = await changeMessage(context, request, reply, async (tx, id) => {
        const { accountId } = request.caller
        const canceled = id && (await cancelOne(tx, context, accountId, id))
        if (canceled && canceled.row !== null) return { row: canceled.row, postings: canceled.postings }
        const row = await requireMessage(tx, accountId, request.params.id)
        // A repeated cancel gets the first response.
        if (row.status !== 'canceled') throw new ApiError('not_cancelable', { detail: `The message is ${row.status}.` })
        return { row }
      })
      context.outbox.offer(postings)
    },
  )
}
