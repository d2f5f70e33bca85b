import type { Room } from '../events/face.ts'
import { now } from '../ground/db/clock.ts'
import type { ReceiveContext } from './context.ts'
import { giveOrphans, orphanStep } from './orphans.ts'
import { orphanRoutes } from './orphans-http.ts'
import { notingMs } from './redelivery.ts'
import { joinLateParts } from './reply-join.ts'
import { partsDue } from './reply-parts.ts'
import type { ReplyContext } from './reply.ts'

// Some HTTP carriers repeat unacknowledged requests for a day.
const hashAge = '25 hours'

export const room = {
  tag: 'Carriers',
  routes: orphanRoutes,
  sweeps: {
    links: ({ receiving }: { receiving: ReceiveContext }) => [
      { name: 'lost answers to replies', everyMs: notingMs, run: () => receiving.redeliveries.noteLost(receiving.db) },
      {
        name: 'late parts of replies',
        everyMs: 5000,
        due: partsDue,
        run: (isOver) => joinLateParts(receiving, isOver),
      },
    ],
    jobs: (context: ReplyContext) => [
      {
        name: 'replies to numbers that have an account now',
        everyMs: 5000,
        due: 'select now() from orphan_replies limit 1',
        run: () => giveOrphans(context, 500, now()),
      },
    ],
  },
  erase: [orphanStep],
  retain: [
    { table: 'reply_hashes', column: 'received_at', age: hashAge },
    { table: 'reply_sessions', column: 'over_at', age: hashAge },
    // Only an operator can assign them.
    { table: 'orphan_replies', column: 'received_at', age: '90 days' },
  ],
} satisfies Room
