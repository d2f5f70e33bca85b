/** The face of quiet hours. */
import type { Room } from '../events/face.ts'
import { untilDone } from '../ground/base/sweeps.ts'
import type { Db } from '../ground/db/db.ts'
import { releaseHeld } from './hold.ts'

export const room = {
  sweeps: {
    jobs: ({ db }: { db: Db }) => [
      {
        name: 'changed quiet hours',
        everyMs: 5000,
        run: (isOver) => untilDone(isOver, 1000, (limit) => releaseHeld(db, limit)),
      },
    ],
  },
} satisfies Room
