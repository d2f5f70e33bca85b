import type { RouteContext } from '../ground/http/idempotency.ts'
import type { Room } from '../events/face.ts'
import type { App } from '../ground/http/http.ts'
import { doctorRoutes } from './http.ts'
import { receiptRoutes } from './receipts-http.ts'
import { followIdForms, formsDue, type RekeyContext } from './rekey.ts'

export const room = {
  tag: 'Carriers',
  routes(app: App, context: RouteContext) {
    doctorRoutes(app, context)
    receiptRoutes(app, context)
  },
  sweeps: {
    jobs: (context: RekeyContext) => [
      { name: 'id forms of links', everyMs: 1000, due: formsDue, run: () => followIdForms(context) },
    ],
  },
} satisfies Room
