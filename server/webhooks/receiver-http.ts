import { Type } from 'typebox'
import type { EraseStep } from '../events/face.ts'
import { showId } from '../ground/base/ids.ts'
import { IdOf, Nullable, problems, Timestamp, type App } from '../ground/http/http.ts'
import { listReceived, receivedMax, receiverOrigin } from '../post/receiver.ts'
import type { WebhooksContext } from './http.ts'

const Post = Type.Object({
  webhook: Nullable(IdOf('whk', 'The webhook; null: a callback address of a message.')),
  headers: Type.Record(Type.String(), Type.String(), {
    description: 'As posted; values of your own headers are `********`.',
  }),
  body: Nullable(
    Type.String({ description: 'The first 65536 characters; null without the scope `messages:read_body`.' }),
  ),
  verified: Type.Boolean({ description: 'Whether the signature fits the secret, the headers and the whole body.' }),
  received_at: Timestamp('When it came.'),
})

const WebhookReceiver = Type.Object(
  {
    object: Type.Literal('webhook_receiver'),
    url: Type.String({ description: 'The address of the receiver, for `url` of a webhook. No network has it.' }),
    posts: Type.Array(Post, { description: `Newest first: the last ${receivedMax}, for a day.` }),
  },
  { $id: 'WebhookReceiver' },
)

export function receiverRoutes(app: App, { db, vault }: Pick<WebhooksContext, 'db' | 'vault'>): void {
  app.addSchema(WebhookReceiver)
  app.get(
    '/v1/webhooks/receiver',
    {
      schema: {
        operationId: 'getWebhookReceiver',
        summary: 'Get posts of the built-in receiver',
        description: `For trying webhooks without a server: create a webhook with the address of this receiver, and see here what it was sent. It keeps the last ${receivedMax} posts of your account for a day, at most 10 a second, and answers 200.`,
        querystring: Type.Object(
          { last: Type.Optional(Type.Integer({ minimum: 1, maximum: receivedMax, default: 20 })) },
          { additionalProperties: false },
        ),
        response: { 200: Type.Ref('WebhookReceiver'), ...problems() },
      },
      config: { scope: 'webhooks:read' },
    },
    async ({ caller: { accountId, scopes }, query: { last = 20 } }) => ({
      object: 'webhook_receiver' as const,
      url: `${receiverOrigin}/`,
      posts: (await listReceived(db, vault, accountId, last)).map((post) => ({
        webhook: post.isCallback ? null : showId('whk', post.endpointId),
        headers: post.headers,
        body: scopes.has('messages:read_body') ? post.body : null,
        verified: post.isVerified,
        received_at: post.receivedAt.toISOString(),
      })),
    }),
  )
}

/** All posts of the account: nothing but this page reads them. */
export const receivedStep: EraseStep = {
  name: 'received_posts',
  async run(tx, { accountId }) {
    await tx.query({
      name: 'erase-received-posts',
      text: 'delete from received_posts where account_id = $1',
      values: [accountId],
    })
    return { next: null }
  },
}
