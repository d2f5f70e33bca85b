import type { Recording } from '../events/events.ts'
import type { Room } from '../events/face.ts'
import type { Db } from '../ground/db/db.ts'
import type { App } from '../ground/http/http.ts'
import type { Meter } from '../ground/metrics/meter.ts'
import {
  linksDue,
  orphansDue,
  sendersDue,
  watchLinks,
  watchOrphans,
  watchSenders,
  watchWebhooks,
  webhooksDue,
} from './alerts.ts'
import { alertRoutes } from './alerts-http.ts'
import { liveRoutes, type LiveContext } from './http.ts'
import { saveEveryMs, saveLive } from './live.ts'

export const room = {
  routes(app: App, context: LiveContext) {
    liveRoutes(app, context)
    alertRoutes(app, context)
  },
  sweeps: {
    every: ({ db, nodeId, meter }: { db: Db; nodeId: string; meter: Meter }) => [
      { name: 'live numbers', everyMs: saveEveryMs, run: () => saveLive(db, nodeId, meter) },
    ],
    jobs: (context: Recording) => [
      { name: 'alerts of links', everyMs: 2000, due: linksDue, run: () => watchLinks(context) },
      { name: 'alerts of webhooks', everyMs: 2000, due: webhooksDue, run: () => watchWebhooks(context) },
      { name: 'alerts of replies', everyMs: 5000, due: orphansDue, run: () => watchOrphans(context) },
      { name: 'alerts of senders', everyMs: 15_000, due: sendersDue, run: () => watchSenders(context) },
    ],
  },
} satisfies Room
