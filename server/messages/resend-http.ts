import type { Needs } from '../events/events.ts'
import { Type } from 'typebox'
import { now } from '../ground/db/clock.ts'
import { ApiError } from '../ground/base/errors.ts'
import { problems, type App } from '../ground/http/http.ts'
import { changeMessage } from './change-message.ts'
import type { OwnLinks } from '../message/handover.ts'
import type { MessageRow } from '../message/message.ts'
import { resendMessage } from '../ledger/resend.ts'
import { findMessage } from '../message/store.ts'

export function resendRoutes(app: App, context: Needs<'db' | 'vault'> & { ownLinks: OwnLinks }): void {
  app.post(
    '/v1/messages/:id/resend',
    {
      schema: {
        operationId: 'resendMessage',
        summary: 'Resend a message with an unknown outcome',
        description:
          'The recipient may get it twice: the message has `possible_duplicate` from now on. The caller is recorded.',
        params: Type.Object({ id: Type.String({ maxLength: 255, description: 'Id of a message.' }) }),
        response: { 200: Type.Ref('Message'), ...problems(404, 409) },
      },
      config: { scope: 'messages:write', testKeys: 'is of tests', audit: 'message.resent' },
    },
    async (request, reply) => {
      const { accountId, kind, id: actorId } = request.caller
      await changeMessage(context, request, reply, async (tx, id) => {
        const actor = { kind, id: actorId, requestId: request.id }
        const row = id && (await resendMessage(tx, accountId, id, actor))
        if (!row) throw notResendable(id && (await findMessage(tx, accountId, id)))
        // The log keeps neither the text nor the number of a message.
        return { row, audit: { before: { status: 'unconfirmed' }, after: { status: row.status } } }
      })
      context.ownLinks.wake()
    },
  )
}

function notResendable(row: MessageRow | '' | null): ApiError {
  if (!row) return new ApiError('not_found', { detail: 'There is no such message.' })
  const { status, errorCode, expiresAt } = row
  const isUnknown = status === 'unconfirmed' && errorCode === 'outcome_unknown'
  const isOver = isUnknown && expiresAt !== null && expiresAt <= now()
  const why = isOver
    ? 'It has expired: send a new message.'
    : isUnknown
      ? 'Its campaign was canceled, or its text was deleted.'
      : `The message is ${status}${errorCode ? ` (${errorCode})` : ''}.`
  return new ApiError('not_resendable', { detail: why })
}
