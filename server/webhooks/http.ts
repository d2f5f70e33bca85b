/** `/v1/webhooks`: where an account's events are posted. */
import { Type } from 'typebox'
import type { Db } from '../db/db.ts'
import { ApiError, invalid } from '../errors.ts'
import { recordEvents, type Outbox, type Posting } from '../events.ts'
import { Nullable, PageOf, pageQuery, problems, type App } from '../http.ts'
import { idempotent } from '../idempotency.ts'
import { newId, parseId, showId } from '../ids.ts'
import { buildPage, readCursor } from '../page.ts'
import type { Vault } from '../secrets.ts'
import { rotateCallbackSecret } from './callback.ts'
import type { Destinations } from './destination.ts'
import { secretPurpose } from './endpoint.ts'
import { findEventsOfTransaction } from './events-store.ts'
import { checkInput } from './input.ts'
import {
  Attempt,
  contractEvents,
  NewWebhook,
  renderAttempt,
  renderWebhook,
  Secret,
  Webhook,
  WebhookChange,
} from './resource.ts'
import { newSecret } from './signature.ts'
import {
  deleteWebhook,
  findWebhook,
  insertWebhook,
  listAttempts,
  listWebhooks,
  replaceSecret,
  updateWebhook,
  webhooksMax,
} from './store.ts'

/** What the routes of webhooks and events need. */
export interface WebhooksContext {
  db: Db
  vault: Vault
  destinations: Destinations
  /** Where tests and redeliveries are handed over. */
  outbox: Outbox
}

const params = Type.Object({ id: Type.String() })
const tags = ['webhooks']
const WebhookRef = Type.Ref('Webhook')
const Rotation = Type.Object(
  {
    grace_seconds: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 604_800, description: 'Default 86400, a day; at most 7 days.' }),
    ),
  },
  { additionalProperties: false },
)
const WithSecret = Type.Object({ ...Webhook.properties, secret: Secret })

/** The webhook's database id. @throws ApiError `not_found`. */
const readId = (id: string): string => found(parseId('whk', id))

function found<T>(value: T | null): T {
  if (value === null) throw new ApiError('not_found', { detail: 'There is no such webhook.' })
  return value
}

/** Registers `/v1/webhooks`. */
export function webhookRoutes(app: App, context: WebhooksContext): void {
  const { db, vault, destinations, outbox } = context
  app.addSchema(Webhook)
  app.addSchema(Attempt)

  app.post(
    '/v1/webhooks',
    {
      schema: {
        operationId: 'createWebhook',
        summary: 'Create a webhook',
        description: `An account has at most ${webhooksMax}. The answer contains the signing secret, once.`,
        tags,
        body: NewWebhook,
        response: { 201: WithSecret, ...problems(409) },
      },
      config: { scope: 'webhooks:write' },
    },
    async (request, reply) => {
      const { accountId } = request.caller
      await checkInput(request.body, destinations)
      return idempotent(context, request, reply, async (tx) => {
        const id = newId()
        const secret = newSecret()
        const sealed = vault.seal(secret, secretPurpose(id))
        const row = await insertWebhook(tx, accountId, { events: contractEvents, ...request.body, id, secret: sealed })
        if (!row)
          throw invalid([
            {
              pointer: '#',
              code: 'out_of_range',
              detail: `The account has ${webhooksMax} webhooks, which is the most.`,
            },
          ])
        const body = { ...renderWebhook(row), secret }
        return { status: 201, body, location: `/v1/webhooks/${body.id}`, resourceId: id }
      })
    },
  )

  app.get(
    '/v1/webhooks',
    {
      schema: {
        operationId: 'listWebhooks',
        summary: 'List webhooks, newest first',
        tags,
        querystring: Type.Object(pageQuery, { additionalProperties: false }),
        response: { 200: PageOf(WebhookRef), ...problems() },
      },
      config: { scope: 'webhooks:read' },
    },
    async (request) => {
      const { limit = 50, cursor } = request.query
      const position = readCursor(cursor, ['webhooks'])
      const rows = await listWebhooks(db, request.caller.accountId, limit, position)
      const page = buildPage(rows, limit, position, ['webhooks'])
      return { ...page, data: page.data.map(renderWebhook) }
    },
  )

  app.get(
    '/v1/webhooks/:id',
    {
      schema: {
        operationId: 'getWebhook',
        summary: 'Get a webhook',
        tags,
        params,
        response: { 200: WebhookRef, ...problems(404) },
      },
      config: { scope: 'webhooks:read' },
    },
    async (request) => renderWebhook(found(await findWebhook(db, request.caller.accountId, readId(request.params.id)))),
  )

  app.patch(
    '/v1/webhooks/:id',
    {
      schema: {
        operationId: 'updateWebhook',
        summary: 'Change a webhook',
        description: 'Fields that are not given stay. What waits for a webhook when it is disabled is not posted.',
        tags,
        params,
        body: WebhookChange,
        response: { 200: WebhookRef, ...problems(404, 409) },
      },
      config: { scope: 'webhooks:write' },
    },
    async (request, reply) => {
      const id = readId(request.params.id)
      await checkInput(request.body, destinations)
      return idempotent(context, request, reply, async (tx) => {
        const row = found(await updateWebhook(tx, request.caller.accountId, id, request.body))
        return { status: 200, body: renderWebhook(row) }
      })
    },
  )

  app.delete(
    '/v1/webhooks/:id',
    {
      schema: {
        operationId: 'deleteWebhook',
        summary: 'Delete a webhook',
        tags,
        params,
        response: { 204: Type.Null({ description: 'Deleted.' }), ...problems(404, 409) },
      },
      config: { scope: 'webhooks:write' },
    },
    async (request, reply) =>
      idempotent(context, request, reply, async (tx) => {
        found((await deleteWebhook(tx, request.caller.accountId, readId(request.params.id))) || null)
        return { status: 204 }
      }),
  )

  app.post(
    '/v1/webhooks/:id/test',
    {
      schema: {
        operationId: 'testWebhook',
        summary: 'Post a `webhook.test` event to this webhook',
        tags,
        params,
        response: { 202: Type.Object({ event: Type.String(), type: Type.String() }), ...problems(404, 409) },
      },
      config: { scope: 'webhooks:write' },
    },
    async (request, reply) => {
      const { accountId } = request.caller
      const endpointId = readId(request.params.id)
      let postings: Posting[] = []
      const sent = await idempotent(context, request, reply, async (tx) => {
        const webhook = found(await findWebhook(tx, accountId, endpointId))
        if (!webhook.enabled)
          throw invalid([{ pointer: '#', code: 'invalid_value', detail: 'The webhook is disabled; enable it first.' }])
        const data = { webhook: renderWebhook(webhook) }
        postings = await recordEvents(tx, [{ accountId, type: 'webhook.test', endpointId, data }], outbox)
        const [eventId = ''] = await findEventsOfTransaction(tx, accountId)
        return { status: 202, body: { event: showId('evt', eventId), type: 'webhook.test' } }
      })
      outbox.offer(postings)
      return sent
    },
  )

  app.get(
    '/v1/webhooks/:id/deliveries',
    {
      schema: {
        operationId: 'listWebhookDeliveries',
        summary: 'List the attempts at a webhook, newest first',
        tags,
        params,
        querystring: Type.Object(pageQuery, { additionalProperties: false }),
        response: { 200: PageOf(Type.Ref('Attempt')), ...problems(404) },
      },
      config: { scope: 'webhooks:read' },
    },
    async (request) => {
      const { accountId } = request.caller
      const { limit = 50, cursor } = request.query
      const { id } = found(await findWebhook(db, accountId, readId(request.params.id)))
      const position = readCursor(cursor, ['deliveries', id])
      const rows = await listAttempts(db, accountId, id, limit, position)
      const page = buildPage(rows, limit, position, ['deliveries', id])
      return { ...page, data: page.data.map(renderAttempt) }
    },
  )

  app.post(
    '/v1/webhooks/:id/rotate-secret',
    {
      schema: {
        operationId: 'rotateWebhookSecret',
        summary: 'Replace the signing secret',
        description: 'Posts carry a signature of the old secret too, until the grace time is over.',
        tags,
        params,
        body: Nullable(Rotation),
        response: { 200: WithSecret, ...problems(404, 409) },
      },
      config: { scope: 'webhooks:write' },
    },
    async (request, reply) =>
      idempotent(context, request, reply, async (tx) => {
        const id = readId(request.params.id)
        const secret = newSecret()
        const sealed = vault.seal(secret, secretPurpose(id))
        const graceSeconds = request.body?.grace_seconds ?? 86_400
        const row = found(await replaceSecret(tx, request.caller.accountId, id, sealed, graceSeconds))
        return { status: 200, body: { ...renderWebhook(row), secret } }
      }),
  )

  app.post(
    '/v1/webhooks/callback-secret/rotate',
    {
      schema: {
        operationId: 'rotateCallbackSecret',
        summary: 'Replace the secret that signs posts to `callback_url` addresses',
        description: 'One secret for the account, in force at once. Call it first to learn the secret.',
        tags,
        response: { 200: Type.Object({ secret: Secret }), ...problems(409) },
      },
      config: { scope: 'webhooks:write' },
    },
    async (request, reply) =>
      idempotent(context, request, reply, async (tx) => {
        const secret = await rotateCallbackSecret(tx, vault, request.caller.accountId)
        return { status: 200, body: { secret } }
      }),
  )
}
