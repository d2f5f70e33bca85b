import type { Room } from '../events/face.ts'
import { hourMs } from '../ground/base/sweeps.ts'
import type { Db } from '../ground/db/db.ts'
import { cancelBroadcastsOf } from './close.ts'
import { broadcastRoutes } from './http.ts'
import { forgetRecipients } from './retention.ts'

export const room = {
  tag: 'Campaigns',
  routes: broadcastRoutes,
  sweeps: {
    jobs: ({ db }: { db: Db }) => [
      {
        name: 'recipients of broadcasts that are over',
        everyMs: hourMs,
        run: (isOver) => forgetRecipients(db, isOver),
      },
    ],
  },
  close: [cancelBroadcastsOf],
  destroy: ['recipients', 'broadcasts'],
} satisfies Room
