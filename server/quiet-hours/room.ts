import type { Room } from '../events/face.ts'
import { inPieces } from '../ground/base/sweeps.ts'
import type { Db } from '../ground/db/db.ts'
import { hoursDue, releaseHeld } from './hold.ts'

export const room = {
  sweeps: {
    jobs: ({ db }: { db: Db }) => [
      inPieces('changed quiet hours', 5000, 1000, (limit) => releaseHeld(db, limit), hoursDue),
    ],
  },
} satisfies Room
