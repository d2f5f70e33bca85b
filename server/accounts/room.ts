import type { Recording } from '../events/events.ts'
import type { Room, WithRooms } from '../events/face.ts'
import { forAWhile, hourMs } from '../ground/base/sweeps.ts'
import { inTurn } from '../ground/db/in-turn.ts'
import { closedDue, destroyNext, endClosedAccounts } from './closing.ts'
import { expireCredentials } from './expire.ts'
import { accountRoutes } from './http.ts'

export const room = {
  routes: accountRoutes,
  sweeps: {
    jobs(context: Recording & WithRooms) {
      const { db, rooms } = context
      const closing = rooms.flatMap(({ close }) => close ?? [])
      const pieces = rooms.flatMap(({ destroy }) => destroy ?? [])
      return [
        {
          name: 'closed accounts',
          everyMs: 2000,
          due: closedDue,
          run: (isOver) => {
            const endClosed = (): Promise<void> => endClosedAccounts(context, closing, isOver)
            const destroy = (): Promise<void> => forAWhile(5000, () => destroyNext(db, pieces))
            return inTurn([endClosed, destroy], (work) => work())
          },
        },
        { name: 'expired credentials', everyMs: hourMs, run: () => expireCredentials(db) },
      ]
    },
  },
  changes: {
    account: { caches: ['accounts'] },
    settings: { caches: ['accounts', 'routing'], isOfCaller: true },
  },
} satisfies Room
