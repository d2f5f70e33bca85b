/** The face of opt-outs. They and consents stay when an account is destroyed, as evidence. */
import type { Room } from '../events/face.ts'
import { inPieces } from '../ground/base/sweeps.ts'
import type { Db } from '../ground/db/db.ts'
import type { App } from '../ground/http/http.ts'
import { consentRoutes } from './consent-http.ts'
import { optOutRoutes, type OptOutsContext } from './http.ts'
import { keywordRoutes } from './keyword-http.ts'
import { optOutListRoutes } from './list-http.ts'
import { forgetNumbers, forgettingDue } from './opt-out.ts'

export const room = {
  tag: 'Opt-outs',
  routes(app: App, context: OptOutsContext) {
    optOutRoutes(app, context)
    optOutListRoutes(app, context)
    keywordRoutes(app, context)
    consentRoutes(app, context)
  },
  sweeps: {
    jobs: ({ db }: { db: Db }) => [
      inPieces('numbers to forget', 10_000, 100, (limit) => forgetNumbers(db, limit), forgettingDue),
    ],
  },
  destroy: ['keyword_settings'],
} satisfies Room
