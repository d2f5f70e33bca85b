/** The face of webhooks. Posts for deleted endpoints are dropped in their turn. */
import type { Room } from '../events/face.ts'
import { hourMs } from '../ground/base/sweeps.ts'
import type { Db } from '../ground/db/db.ts'
import type { App } from '../ground/http/http.ts'
import { stopWebhooksOf } from './close.ts'
import { deliveryRoutes } from './deliveries-http.ts'
import type { EventsContext } from './events-context.ts'
import { eventRoutes } from './events-http.ts'
import { webhookRoutes } from './http.ts'
import { receivedStep, receiverRoutes } from './receiver-http.ts'
import { replayRoutes } from './replay-http.ts'
import { enqueueReplays, forgetReplays, replaysDue } from './replays.ts'

export const room = {
  tag: 'Webhooks',
  routes(app: App, context: EventsContext) {
    receiverRoutes(app, context)
    webhookRoutes(app, context)
    deliveryRoutes(app, context)
    replayRoutes(app, context)
    eventRoutes(app, context)
  },
  sweeps: {
    jobs: ({ db }: { db: Db }) => [
      { name: 'replays', everyMs: 500, due: replaysDue, run: () => enqueueReplays(db) },
      { name: 'replays that are over', everyMs: hourMs, run: () => forgetReplays(db) },
    ],
  },
  close: [stopWebhooksOf],
  destroy: ['received_posts', 'replays', 'webhooks'],
  erase: [receivedStep],
  retain: [{ table: 'received_posts', column: 'received_at', age: '1 day' }],
  changes: { webhook: { caches: ['accounts'] } },
} satisfies Room
