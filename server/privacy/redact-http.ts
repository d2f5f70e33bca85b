/** POST /v1/messages/{id}/redact: deletes the text, keeps the message. */
import type { RouteContext } from '../ground/http/idempotency.ts'
import { Type } from 'typebox'
import { ApiError } from '../ground/base/errors.ts'
import { problems, type App } from '../ground/http/http.ts'
import { changeMessage } from '../messages/change-message.ts'
import type { MessageRow } from '../message/message.ts'
import { redactMessage } from '../message/redact.ts'
import { findMessage } from '../message/store.ts'

export function redactRoutes(app: App, context: RouteContext): void {
  app.post(
    '/v1/messages/:id/redact',
    {
      schema: {
        operationId: 'redactMessage',
        summary: 'Redact a message',
        description:
          'Deletes the text from the message, its events and pending posts, permanently. Numbers, times, segments and the outcome remain; so do `sequence` and `updated_at`, because nothing happened to the message. Redacting it again returns it unchanged.',
        tags: ['Messages'],
        params: Type.Object({ id: Type.String({ maxLength: 255, description: 'Id of a message.' }) }),
        response: { 200: Type.Ref('Message'), ...problems(404, 409) },
      },
      config: { scope: 'messages:write', testKeys: 'is of tests', audit: 'message.redacted' },
    },
    async (request, reply) => {
      await changeMessage(context, request, reply, async (tx, id) => {
        const { accountId } = request.caller
        const row = id && (await redactMessage(tx, accountId, id))
        if (!row) throw notRedactable(id && (await findMessage(tx, accountId, id)))
        return { row, audit: { after: null } }
      })
    },
  )
}

function notRedactable(row: MessageRow | '' | null): ApiError {
  if (!row) return new ApiError('not_found', { detail: 'There is no such message.' })
  const what = ['scheduled', 'queued'].includes(row.status)
    ? 'Cancel it first, or send with retain_content: false.'
    : 'It is over when its receipt has come, or when nobody waits for one any more.'
  return new ApiError('not_redactable', { detail: `The message is ${row.status}. ${what}` })
}
