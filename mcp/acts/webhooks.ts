import { z } from 'zod'
import { defineActing } from '../acting.ts'
import { id } from '../tool.ts'
import { showWebhook, WebhookShape } from '../tools/webhooks.ts'

export const testWebhook = defineActing({
  name: 'test_webhook',
  title: 'Test a webhook',
  description:
    'Posts an event of type webhook.test to a webhook. A moment later, list_webhook_deliveries with all=true shows the response.',
  scopes: ['webhooks:write', 'webhooks:read'],
  isDestructive: false,
  reachesOut: true,
  input: z.strictObject({ webhook: id('Id of a webhook', 'whk_…') }),
  effect: z.object({ webhook: WebhookShape }),
  result: z.object({ event: z.string(), type: z.string() }),
  async plan({ client, signal }, { webhook: id }) {
    const webhook = showWebhook(await client.call('getWebhook', { path: { id } }, { signal }))
    return {
      effect: { webhook },
      recipients: 0,
      blocked: webhook.enabled ? null : 'The webhook is disabled: nothing is posted to it.',
    }
  },
  async perform({ client }, { webhook: id }, options) {
    return client.call('testWebhook', { path: { id } }, options)
  },
})

export const redeliverEvent = defineActing({
  name: 'redeliver_event',
  title: 'Redeliver an event',
  description:
    'Posts an event again, with the same id, to its callback address or to the webhooks that subscribe to it now. Use it if the receiver was broken and works again; list_webhook_deliveries has the ids.',
  scopes: ['webhooks:write', 'events:read'],
  isDestructive: false,
  reachesOut: true,
  input: z.strictObject({ event: id('Id of an event', 'evt_…') }),
  effect: z.object({ event: z.string(), type: z.string(), recorded_at: z.string(), sequence: z.number() }),
  result: z.object({
    event: z.string(),
    posts: z.number().describe('Number of addresses; 0: nobody subscribes to it.'),
  }),
  async plan({ client, signal }, { event: id }) {
    const { type, timestamp, sequence } = await client.call('getEvent', { path: { id } }, { signal })
    return { effect: { event: id, type, recorded_at: timestamp, sequence }, recipients: 0 }
  },
  async perform({ client }, { event: id }, options) {
    return client.call('redeliverEvent', { path: { id } }, options)
  },
})
