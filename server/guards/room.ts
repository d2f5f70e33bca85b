import type { Room } from '../events/face.ts'
import { inPieces } from '../ground/base/sweeps.ts'
import type { Db } from '../ground/db/db.ts'
import { guardRoutes } from './http.ts'
import { forgetWindows } from './stops.ts'

export const room = {
  tag: 'Guards',
  routes: guardRoutes,
  sweeps: {
    jobs: ({ db }: { db: Db }) => [inPieces('windows of guards', 60_000, 5000, (limit) => forgetWindows(db, limit))],
  },
} satisfies Room
