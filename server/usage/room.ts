import type { Room } from '../events/face.ts'
import { inPieces } from '../ground/base/sweeps.ts'
import type { Db } from '../ground/db/db.ts'
import { foldCounters } from './fold.ts'
import { usageRoutes } from './usage-http.ts'

export const room = {
  routes: usageRoutes,
  sweeps: {
    jobs: ({ db }: { db: Db }) => [
      inPieces('tallies', 1000, 5000, (limit) => foldCounters(db, limit), 'select now() from tally_deltas limit 1'),
    ],
  },
} satisfies Room
