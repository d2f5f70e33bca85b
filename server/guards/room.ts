/** The face of guards. */
import type { Room } from '../events/face.ts'
import { untilDone } from '../ground/base/sweeps.ts'
import type { Db } from '../ground/db/db.ts'
import { guardRoutes } from './http.ts'
import { forgetWindows } from './stops.ts'

export const room = {
  routes: guardRoutes,
  sweeps: {
    jobs: ({ db }: { db: Db }) => [
      {
        name: 'windows of guards',
        everyMs: 60_000,
        run: (isOver) => untilDone(isOver, 5000, (limit) => forgetWindows(db, limit)),
      },
    ],
  },
} satisfies Room
