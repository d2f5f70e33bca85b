import { Type } from 'typebox'
import { ApiError } from '../ground/base/errors.ts'
import { recordEvents, type Posting } from '../events/events.ts'
import { PageOf, pageQuery, problems, type App } from '../ground/http/http.ts'
import { idempotent } from '../ground/http/idempotency.ts'
import { showId } from '../ground/base/ids.ts'
import { readPage, type PagePlace } from '../ground/http/page.ts'
import { Attempt, listAttempts, renderAttempt } from './attempts.ts'
import { findEventsOfTransaction } from './events-store.ts'
import { known, readId, type WebhooksContext } from './http.ts'
import { renderWebhook } from '../post/resource.ts'
import { findWebhook } from '../post/store.ts'

const params = Type.Object({ id: Type.String() })

export function deliveryRoutes(app: App, context: WebhooksContext): void {
  const { db, outbox } = context
  if (!app.getSchema('Attempt')) app.addSchema(Attempt)

  app.post(
    '/v1/webhooks/:id/test',
    {
      schema: {
        operationId: 'testWebhook',
        summary: 'Test a webhook',
        params,
        response: { 202: Type.Object({ event: Type.String(), type: Type.String() }), ...problems(404, 409) },
      },
      config: { scope: 'webhooks:write', testKeys: 'posts events' },
    },
    async (request, reply) => {
      const { accountId } = request.caller
      const endpointId = readId(request.params.id)
      let postings: Posting[] = []
      const sent = await idempotent(context, request, reply, async (tx) => {
        const webhook = known(await findWebhook(tx, accountId, endpointId))
        if (!webhook.enabled) throw new ApiError('webhook_disabled')
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
        summary: 'List delivery attempts of a webhook',
        params,
        querystring: Type.Object(
          {
            ...pageQuery,
            delivery_success: Type.Optional(
              Type.Boolean({ description: 'true: attempts that got 2xx; false: the others.' }),
            ),
          },
          { additionalProperties: false },
        ),
        response: { 200: PageOf(Type.Ref('Attempt')), ...problems(404) },
      },
      config: { scope: 'webhooks:read' },
    },
    async ({ params, query, caller: { accountId, scopes } }) => {
      const { delivery_success: isSuccess = null } = query
      const { id } = known(await findWebhook(db, accountId, readId(params.id)))
      const read = (...place: PagePlace) => listAttempts(db, accountId, id, isSuccess, ...place)
      return readPage(query, ['deliveries', id, isSuccess], read, (row) =>
        renderAttempt(row, scopes.has('messages:read_body')),
      )
    },
  )
}
