/** Messages for programs written for Twilio's API of 2010-04-01: create, fetch, list, cancel, redact (docs/migrating-from-twilio.md). */
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { recordRequest } from '../ground/audit/audit.ts'
import { inTransaction, type Queryable } from '../ground/db/db.ts'
import { ApiError, found, invalid } from '../ground/base/errors.ts'
import type { App } from '../ground/http/http.ts'
import { showId } from '../ground/base/ids.ts'
import { cancelMessage } from '../messages/cancel.ts'
import { readDraft } from '../accept/draft.ts'
import type { MessageRow } from '../message/message.ts'
import { redactMessage } from '../message/redact.ts'
import { refusalError, type MessagesContext } from '../accept/send.ts'
import { allMessages, listMessages, readingOf } from '../messages/list.ts'
import { findMessage } from '../message/store.ts'
import { parseSid, twilioVersion, showSid } from '../post/twilio-words.ts'
import { handleFailure } from '../ground/http/failures.ts'
import { refuseLive } from '../ground/http/live-only.ts'
import type { TwilioAuthenticator } from './credential.ts'
import { sendTwilioFault, WrongParameter } from './faults.ts'
import { isFormOfUtf8 } from '../ground/http/form.ts'
import { positionOf, readTwilioFilters, readTwilioQuery, renderTwilioPage } from './list.ts'
import { renderTwilioMessage, messagesPath, twilioDate } from './resource.ts'
import { readTwilioSend } from './send.ts'

const ofAccount = `/${twilioVersion}/Accounts/:accountSid`
const root = `${ofAccount}/Messages`
const AccountParams = Type.Object({ accountSid: Type.String({ maxLength: 40 }) })
const Params = Type.Object({ accountSid: Type.String({ maxLength: 40 }), sid: Type.String({ maxLength: 40 }) })
// Not in OpenAPI, because the shapes are Twilio's, and its clients know them.
const hidden = { hide: true, params: AccountParams } as const

export async function twilioRoutes(
  app: App,
  context: MessagesContext & { callers: TwilioAuthenticator },
): Promise<void> {
  const { db, acceptor, refuseUrl, shortUrl = null } = context
  const { callers } = context
  const authenticate: TwilioAuthenticator['authenticate'] = (...from) => callers.authenticate(...from)
  const reading = { scope: 'messages:read', authenticate } as const
  const writing = { scope: 'messages:write', authenticate } as const
  await app.register(async (child) => {
    child.removeAllContentTypeParsers()
    child.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'buffer' }, (_request, body, done) => {
      const octets = Buffer.from(body)
      if (isFormOfUtf8(octets)) done(null, new URLSearchParams(octets.toString('utf8')))
      else done(new WrongParameter(20001, 'The parameters must be UTF-8.'))
    })
    child.setErrorHandler((error, request, reply) => {
      if (error instanceof WrongParameter) sendTwilioFault(reply, error)
      else handleFailure(error, request, reply, (known) => sendTwilioFault(reply, known))
    })
    child.addHook('preHandler', (request, _reply, done) => {
      const { accountSid } = request.params as { accountSid: string }
      done(parseSid('AC', accountSid) === request.caller.accountId ? undefined : new ApiError('not_found'))
    })

    child.post(
      `${root}.json`,
      { schema: hidden, config: { ...writing, testKeys: 'sends tests' } },
      async (request, reply) => {
        const { accountId, mode, defaultCountry = null, senderCountry } = request.caller
        const checks = { accountId, isTest: mode === 'test', defaultCountry, senderCountry, refuseUrl, shortUrl }
        const draft = readDraft(readTwilioSend(formOf(request)), checks)
        if (Array.isArray(draft)) throw invalid(draft)
        const accepted = await acceptor.accept(draft)
        if (accepted.kind === 'refused') throw refusalError(accepted.refusal, accepted.stop, accepted.waitSeconds)
        if (accepted.kind !== 'accepted') throw new Error('a send without a key met one')
        return reply.code(201).send(renderTwilioMessage(accepted.row))
      },
    )

    child.get(`${ofAccount}.json`, { schema: hidden, config: reading }, ({ caller }) =>
      readTwilioAccount(db, caller.accountId),
    )

    child.get(`${root}.json`, { schema: { ...hidden, querystring: anyQuery }, config: reading }, async (request) => {
      const { accountId } = request.caller
      const query = readTwilioQuery(request.query as Record<string, unknown>)
      const position = positionOf(query)
      const filters = { ...allMessages, ...(await readTwilioFilters(db, accountId, query)) }
      const stretch = await listMessages(db, accountId, filters, readingOf(position), query.size)
      return renderTwilioPage(accountId, query, stretch, position)
    })

    child.get(`${root}/:sid.json`, { schema: { hide: true, params: Params }, config: reading }, async (request) =>
      renderTwilioMessage(await requireMessage(request)),
    )

    child.post(
      `${root}/:sid.json`,
      { schema: { hide: true, params: Params }, config: { ...writing, testKeys: 'is of tests' } },
      async (request) => {
        const row = await requireMessage(request)
        const form = formOf(request)
        const [status, body] = [form.get('Status'), form.get('Body')]
        if (status === null && body === null) throw new WrongParameter(20001, "Give 'Status' or 'Body'.")
        if (status !== null && status !== 'canceled') throw new WrongParameter(20001, "'Status' can only be canceled.")
        refuseLive(request.caller, row.isTest)
        if (body !== null && body !== '') throw new WrongParameter(20001, "'Body' can only be empty: that redacts it.")
        if (status !== null && row.status !== 'canceled' && !(await cancelMessage(context, row.accountId, row.id)))
          throw new ApiError('not_cancelable', { detail: `The message is ${row.status}.` })
        if (body !== null) await redact(request, row)
        return renderTwilioMessage(await requireMessage(request))
      },
    )

    const redact = (request: FastifyRequest, row: MessageRow): Promise<void> =>
      inTransaction(db, async (tx) => {
        if (!(await redactMessage(tx, row.accountId, row.id)))
          throw new ApiError('not_redactable', { detail: `The message is ${row.status}.` })
        await recordRequest(tx, request, { action: 'message.redacted', target: showId('msg', row.id), after: null })
      })

    const requireMessage = async (request: FastifyRequest): Promise<MessageRow> => {
      const id = parseSid('SM', (request.params as { sid: string }).sid)
      return found(id && (await findMessage(db, request.caller.accountId, id)), 'The requested resource was not found.')
    }
  })
}

// Twilio's clients send parameters that we do not know.
const anyQuery = Type.Object({}, { additionalProperties: true })

function formOf(request: FastifyRequest): URLSearchParams {
  return request.body instanceof URLSearchParams ? request.body : new URLSearchParams()
}

/** By primary key. Without the auth token, which is shown once, when it is created. */
async function readTwilioAccount(db: Queryable, accountId: string): Promise<Record<string, unknown>> {
  const { rows } = await db.query<{ name: string; status: string; createdAt: Date; updatedAt: Date }>(
    `select name, status, created_at as "createdAt", updated_at as "updatedAt" from accounts where id = $1`,
    [accountId],
  )
  const [row] = rows
  if (!row) throw new Error('callers have accounts')
  const sid = showSid('AC', accountId)
  return {
    auth_token: null,
    date_created: twilioDate(row.createdAt),
    date_updated: twilioDate(row.updatedAt),
    friendly_name: row.name,
    owner_account_sid: sid,
    sid,
    status: row.status,
    subresource_uris: { messages: `${messagesPath(accountId)}.json` },
    type: 'Full',
    uri: `/${twilioVersion}/Accounts/${sid}.json`,
  }
}
