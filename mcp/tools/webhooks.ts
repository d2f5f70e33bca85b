import type { Webhook } from '@heliogram/sdk'
import { z } from 'zod'
import { Untrusted, untrusted } from '../untrusted.ts'
import { defineReading, id, nextCursor, paging } from '../tool.ts'

export const WebhookShape = z.object({
  id: z.string(),
  url: z.string().describe('Without its query, which may contain secrets.'),
  events: z.array(z.string()),
  description: z.string().nullable(),
  enabled: z.boolean(),
  disabled_reason: z
    .string()
    .nullable()
    .describe('gone: it answered 410; failing: it failed for 5 days; request: somebody disabled it.'),
  disabled_at: z.string().nullable(),
  failing_since: z.string().nullable().describe('The first failure since the last success; null while it works.'),
  ordered: z.boolean(),
})

/** Without headers and the query of its URL. */
export const showWebhook = (one: Webhook): z.infer<typeof WebhookShape> => ({
  ...one,
  url: one.url.replace(/[?#].*$/s, ''),
})

export const listWebhooks = defineReading({
  name: 'list_webhooks',
  title: 'List webhooks',
  description: 'Lists webhooks and whether they work: since when they have failed, and why they were disabled.',
  scopes: ['webhooks:read'],
  input: z.strictObject(paging),
  output: z.object({ webhooks: z.array(WebhookShape), next_cursor: nextCursor }),
  async read({ client, signal }, query) {
    const page = await client.call('listWebhooks', { query }, { signal })
    return { webhooks: page.data.map(showWebhook), next_cursor: page.next_cursor }
  },
})

export const listWebhookDeliveries = defineReading({
  name: 'list_webhook_deliveries',
  title: 'List delivery attempts of a webhook',
  description:
    'Lists delivery attempts of a webhook, newest first, with the response, the duration, and the time of the next attempt; only failures unless you ask for all. redeliver_event posts an event again.',
  scopes: ['webhooks:read'],
  input: z.strictObject({
    webhook: id('Id of a webhook', 'whk_…'),
    all: z.boolean().default(false).describe('true: successful attempts too.'),
    ...paging,
  }),
  output: z.object({
    deliveries: z.array(
      z.object({
        event: z.string(),
        event_type: z.string().nullable(),
        message: z.string().nullable(),
        try: z.number(),
        outcome: z.string().describe('ok, or the reason, such as status, timeout, refused, dns, tls.'),
        status_code: z.number().nullable(),
        response: Untrusted.nullable().describe('The start of its response.'),
        duration_ms: z.number(),
        next_attempt_at: z.string().nullable().describe('Null: it is not retried.'),
        created_at: z.string(),
      }),
    ),
    next_cursor: nextCursor,
  }),
  async read({ client, signal }, { webhook, all, ...paging }) {
    const query = all ? paging : { ...paging, delivery_success: false }
    const page = await client.call('listWebhookDeliveries', { path: { id: webhook }, query }, { signal })
    const deliveries = page.data.map((one) => ({ ...one, response: untrusted(one.response, 200) }))
    return { deliveries, next_cursor: page.next_cursor }
  },
})
