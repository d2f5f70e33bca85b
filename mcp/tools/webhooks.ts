/** Webhooks, and what they refused. */
import type { Webhook } from '@heliogram/sdk'
import { z } from 'zod'
import { Untrusted, untrusted } from '../strangers.ts'
import { defineReading, id, nextCursor, paging } from '../tool.ts'

export const WebhookShape = z.object({
  id: z.string(),
  url: z.string().describe('Without its query, which may hold secrets.'),
  events: z.array(z.string()),
  description: z.string().nullable(),
  enabled: z.boolean(),
  disabled_reason: z
    .string()
    .nullable()
    .describe('gone: it answered 410; failing: it failed for 5 days; request: somebody did it.'),
  disabled_at: z.string().nullable(),
  failing_since: z.string().nullable().describe('The first failure since the last success; null while it works.'),
  ordered: z.boolean(),
})

/** A webhook as tools show it: no headers, and no query of its address. */
export function showWebhook(one: Webhook): z.infer<typeof WebhookShape> {
  const { id, events, description, enabled, disabled_reason, disabled_at, failing_since, ordered } = one
  const url = withoutQuery(one.url)
  return { id, url, events, description, enabled, disabled_reason, disabled_at, failing_since, ordered }
}

const withoutQuery = (url: string): string => url.replace(/[?#].*$/s, '')

export const listWebhooks = defineReading({
  name: 'list_webhooks',
  title: 'List webhooks',
  description: 'Lists webhooks with whether they work: since when they fail, and why they were disabled.',
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
  title: 'List posts to a webhook',
  description:
    'Lists what was posted to a webhook, newest first, with what it answered, how long it took, and when it is tried again; only failures unless you ask for all. redeliver_event posts one again.',
  scopes: ['webhooks:read'],
  input: z.strictObject({
    webhook: id('Id of a webhook', 'whk_…'),
    all: z.boolean().default(false).describe('true: posts that were taken, too.'),
    ...paging,
  }),
  output: z.object({
    deliveries: z.array(
      z.object({
        event: z.string(),
        event_type: z.string().nullable(),
        message: z.string().nullable(),
        try: z.number(),
        outcome: z.string().describe('ok, or why not, such as status, timeout, refused, dns, tls.'),
        status_code: z.number().nullable(),
        response: Untrusted.nullable().describe('How its answer begins.'),
        duration_ms: z.number(),
        next_attempt_at: z.string().nullable().describe('Null: it is not tried again.'),
        created_at: z.string(),
      }),
    ),
    next_cursor: nextCursor,
  }),
  async read({ client, signal }, { webhook, all, ...paging }) {
    const query = all ? paging : { ...paging, delivery_success: false }
    const page = await client.call('listWebhookDeliveries', { path: { id: webhook }, query }, { signal })
    return {
      deliveries: page.data.map((one) => ({
        event: one.event,
        event_type: one.event_type,
        message: one.message,
        try: one.try,
        outcome: one.outcome,
        status_code: one.status_code,
        response: untrusted(one.response, 200),
        duration_ms: one.duration_ms,
        next_attempt_at: one.next_attempt_at,
        created_at: one.created_at,
      })),
      next_cursor: page.next_cursor,
    }
  },
})
