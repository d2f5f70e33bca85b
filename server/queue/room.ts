import type { Recording } from '../events/events.ts'
import type { Room } from '../events/face.ts'
import { hourMs, inPieces } from '../ground/base/sweeps.ts'
import { forgetBacklogs } from './backlogs.ts'
import { expireMessages, queueDue } from './due.ts'

export const room = {
  sweeps: {
    jobs(context: Recording & { wake: () => void }) {
      const { db, wake } = context
      return [
        // A second is a negligible delay for a scheduled message or a retry.
        inPieces(
          'due messages',
          500,
          1000,
          async (limit) => {
            const queued = await queueDue(db, limit)
            if (queued > 0) wake()
            return queued
          },
          'select due_at from delayed order by due_at limit 1',
        ),
        inPieces(
          'expired messages',
          1000,
          500,
          (limit) => expireMessages(context, limit),
          'select expires_at from queue order by expires_at limit 1',
        ),
        { name: 'parts of lanes that are empty', everyMs: hourMs, run: () => forgetBacklogs(db) },
      ]
    },
  },
} satisfies Room
