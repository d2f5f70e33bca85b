/** The face of the queue. */
import type { Room } from '../events/face.ts'
import { hourMs, untilDone } from '../ground/base/sweeps.ts'
import { forgetBacklogs } from './backlogs.ts'
import type { QueueContext } from './claim.ts'
import { expireMessages, queueDue } from './due.ts'

export const room = {
  sweeps: {
    jobs(context: QueueContext & { wake: () => void }) {
      const { db, wake } = context
      return [
        // Nobody notices that a scheduled message or a retry is a second late.
        {
          name: 'due messages',
          everyMs: 500,
          run: (isOver) =>
            untilDone(isOver, 1000, async (limit) => {
              const queued = await queueDue(db, limit)
              if (queued > 0) wake()
              return queued
            }),
        },
        {
          name: 'expired messages',
          everyMs: 1000,
          run: (isOver) => untilDone(isOver, 500, (limit) => expireMessages(context, limit)),
        },
        { name: 'parts of lanes that are empty', everyMs: hourMs, run: () => forgetBacklogs(db) },
      ]
    },
  },
} satisfies Room
