import { Type, type Static } from 'typebox'
import { ApiError, found, invalid } from '../ground/base/errors.ts'
import type { Needs } from '../events/events.ts'
import { Nullable, PageOf, pageQuery, problems, type App } from '../ground/http/http.ts'
import { idempotent } from '../ground/http/idempotency.ts'
import { newId, parseId } from '../ground/base/ids.ts'
import { readPage } from '../ground/http/page.ts'
import { Faults } from '../ground/http/faults.ts'
import { rotateCallbackSecret } from '../post/callback.ts'
import type { Destinations } from '../post/destination.ts'
import { secretPurpose } from '../post/endpoint.ts'
import { checkInput } from './input.ts'
import { fillHeaders, mask, openHeaders, sealHeaders, type Headers } from '../post/headers.ts'
import { contractEvents, NewWebhook, renderWebhook, Secret, Webhook, WebhookChange } from '../post/resource.ts'
import { newSecret } from '../post/signature.ts'
import {
  deleteWebhook,
  findWebhook,
  insertWebhook,
  listWebhooks,
  lockHeaders,
  replaceSecret,
  updateWebhook,
  webhooksMax,
  type Stored,
} from '../post/store.ts'

export type WebhooksContext = Needs<'db' | 'vault' | 'outbox'> & { destinations: Destinations }

const params = Type.Object({ id: Type.String() })
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

/** @throws ApiError `not_found`. */
export const readId = (id: string): string => known(parseId('whk', id))

/** @throws ApiError `not_found`. */
export const known = <T>(value: T | null | undefined): T => found(value, 'There is no such webhook.')

/**
 * Whether the change leaves texts in the posts. Callers who may not read texts may neither request them nor redirect them.
 * @throws ApiError `insufficient_scope`.
 */
function mayHaveBodies(input: WebhookChange, scopes: ReadonlySet<string>): boolean | undefined {
  if (scopes.has('messages:read_body')) return input.include_bodies
  if (input.include_bodies)
    throw new ApiError('insufficient_scope', { detail: 'include_bodies needs the scope messages:read_body.' })
  return input.url === undefined ? input.include_bodies : false
}

/**
 * Header values are credentials for one host: a caller who cannot read them may not send them to another.
 * @throws ApiError `validation_failed` if the host changes and a value is not given again.
 */
function requireOwnHeaders(before: Static<typeof Webhook>, url: string, headers: Headers = before.headers): void {
  if (new URL(url).origin === new URL(before.url).origin || !Object.values(headers).includes(mask)) return
  const detail = `The address is on another host: send the values of the headers again, not ${mask}, or leave them out.`
  throw invalid([{ pointer: '#/headers', code: 'invalid_value', detail }])
}

export function webhookRoutes(app: App, context: WebhooksContext): void {
  const { db, vault, destinations } = context
  app.addSchema(Webhook)

  app.post(
    '/v1/webhooks',
    {
      schema: {
        operationId: 'createWebhook',
        summary: 'Create a webhook',
        description: `An account has at most ${webhooksMax}. The response has the signing secret, shown only now.`,
        body: NewWebhook,
        response: { 201: WithSecret, ...problems(409) },
      },
      config: { scope: 'webhooks:write', audit: 'webhook.created', needsConfirmation: true },
      attachValidation: true,
    },
    async (request, reply) => {
      const { accountId, scopes } = request.caller
      const faults = new Faults(request)
      await checkInput(faults.sound(request.body), destinations, faults.all)
      return idempotent(context, request, reply, async (tx) => {
        const id = newId()
        const secret = newSecret()
        const sealed = vault.seal(secret, secretPurpose(id))
        const fields = { events: contractEvents, ...request.body, id, secret: sealed }
        const headers = sealHeaders(vault, id, fillHeaders(request.body.headers ?? {}, {}))
        const hasBodies = mayHaveBodies(request.body, scopes) ?? true
        const row = await insertWebhook(tx, accountId, fields, { ...headers, hasBodies })
        const detail = `The account already has ${webhooksMax} webhooks, the maximum.`
        if (!row) throw invalid([{ pointer: '#', code: 'out_of_range', detail }])
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
        summary: 'List webhooks',
        querystring: Type.Object(pageQuery, { additionalProperties: false }),
        response: { 200: PageOf(WebhookRef), ...problems() },
      },
      config: { scope: 'webhooks:read' },
    },
    ({ query, caller }) =>
      readPage(query, ['webhooks'], (...place) => listWebhooks(db, caller.accountId, ...place), renderWebhook),
  )

  app.get(
    '/v1/webhooks/:id',
    {
      schema: {
        operationId: 'getWebhook',
        summary: 'Get a webhook',
        params,
        response: { 200: WebhookRef, ...problems(404) },
      },
      config: { scope: 'webhooks:read' },
    },
    async (request) => renderWebhook(known(await findWebhook(db, request.caller.accountId, readId(request.params.id)))),
  )
  webhookChangeRoutes(app, context)
}

function webhookChangeRoutes(app: App, context: WebhooksContext): void {
  const { vault, destinations } = context

  app.patch(
    '/v1/webhooks/:id',
    {
      schema: {
        operationId: 'updateWebhook',
        summary: 'Update a webhook',
        description:
          'Fields that you leave out stay, except that your own headers are not sent to another host: set them again. Events pending when a webhook is disabled are not posted, even after it is enabled: replay them.',
        params,
        body: WebhookChange,
        response: { 200: WebhookRef, ...problems(404, 409) },
      },
      config: { scope: 'webhooks:write', audit: 'webhook.updated', needsConfirmation: true },
      attachValidation: true,
    },
    async (request, reply) => {
      const faults = new Faults(request)
      const id = readId(request.params.id)
      await checkInput(faults.sound(request.body), destinations, faults.all)
      return idempotent(context, request, reply, async (tx) => {
        const { accountId, scopes } = request.caller
        const { headers, url } = request.body
        const sealed = headers || url !== undefined ? known(await lockHeaders(tx, accountId, id)) : null
        const before = renderWebhook(known(await findWebhook(tx, accountId, id)))
        const hasBodies = mayHaveBodies(request.body, scopes)
        const stored: Stored = hasBodies === undefined ? {} : { hasBodies }
        if (url !== undefined) requireOwnHeaders(before, url, headers)
        if (headers && sealed)
          Object.assign(stored, sealHeaders(vault, id, fillHeaders(headers, openHeaders(vault, sealed))))
        const row = known(await updateWebhook(tx, accountId, id, request.body, stored))
        return { status: 200, body: renderWebhook(row), audit: { before } }
      })
    },
  )

  app.delete(
    '/v1/webhooks/:id',
    {
      schema: {
        operationId: 'deleteWebhook',
        summary: 'Delete a webhook',
        params,
        response: { 204: Type.Null({ description: 'Deleted.' }), ...problems(404, 409) },
      },
      config: { scope: 'webhooks:write', audit: 'webhook.deleted' },
    },
    async (request, reply) =>
      idempotent(context, request, reply, async (tx) => {
        const { accountId } = request.caller
        const row = known(await findWebhook(tx, accountId, readId(request.params.id)))
        known(await deleteWebhook(tx, accountId, row.id))
        return { status: 204, audit: { before: renderWebhook(row) } }
      }),
  )

  app.post(
    '/v1/webhooks/:id/rotate-secret',
    {
      schema: {
        operationId: 'rotateWebhookSecret',
        summary: 'Rotate the secret of a webhook',
        description: 'Posts also have a signature with the old secret until the grace time ends.',
        params,
        body: Nullable(Rotation),
        response: { 200: WithSecret, ...problems(404, 409) },
      },
      config: { scope: 'webhooks:write', audit: 'webhook.secret_rotated', needsConfirmation: true },
    },
    async (request, reply) =>
      idempotent(context, request, reply, async (tx) => {
        const id = readId(request.params.id)
        const secret = newSecret()
        const sealed = vault.seal(secret, secretPurpose(id))
        const graceSeconds = request.body?.grace_seconds ?? 86_400
        const row = known(await replaceSecret(tx, request.caller.accountId, id, sealed, graceSeconds))
        return { status: 200, body: { ...renderWebhook(row), secret }, audit: { before: renderWebhook(row) } }
      }),
  )

  app.post(
    '/v1/webhooks/callback-secret/rotate',
    {
      schema: {
        operationId: 'rotateCallbackSecret',
        summary: 'Rotate the callback secret',
        description: 'One secret for the account, in effect at once. Call it first to get the secret.',
        response: { 200: Type.Object({ secret: Secret }), ...problems(409) },
      },
      config: { scope: 'webhooks:write', audit: 'callback_secret.rotated', needsConfirmation: true },
    },
    async (request, reply) =>
      idempotent(context, request, reply, async (tx) => {
        const secret = await rotateCallbackSecret(tx, vault, request.caller.accountId)
        return { status: 200, body: { secret }, audit: { target: 'account' } }
      }),
  )
}
