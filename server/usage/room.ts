import type { Room } from '../events/face.ts'
import { inPieces } from '../ground/base/sweeps.ts'
import type { Db } from '../ground/db/db.ts'
import type { App } from '../ground/http/http.ts'
import { foldCounters } from './fold.ts'
import { seriesRoutes } from './series-http.ts'
import { usageRoutes } from './usage-http.ts'

export const room = {
  routes(app: App, context: { db: Db }) {
    usageRoutes(app, context)
    seriesRoutes(app, context)
  },
  sweeps: {
    jobs: ({ db }: { db: Db }) => [
      inPieces('tallies', 1000, 5000, (limit) => foldCounters(db, limit), 'select now() from tally_deltas limit 1'),
    ],
  },
  destroy: ['series'],
  retain: [{ table: 'series', column: 'forget_at', age: '0 seconds' }],
} satisfies Room
