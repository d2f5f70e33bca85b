/** The face of usage. */
import type { Room } from '../events/face.ts'
import { untilDone } from '../ground/base/sweeps.ts'
import type { Db } from '../ground/db/db.ts'
import { foldTallies } from './fold.ts'
import { usageRoutes } from './usage-http.ts'

export const room = {
  routes: usageRoutes,
  sweeps: {
    jobs: ({ db }: { db: Db }) => [
      { name: 'tallies', everyMs: 1000, run: (isOver) => untilDone(isOver, 5000, (limit) => foldTallies(db, limit)) },
    ],
  },
} satisfies Room
