import type { RouteContext } from '../ground/http/idempotency.ts'
import type { Recording } from '../events/events.ts'
import type { Room, WithRooms } from '../events/face.ts'
import { forAWhile, hourMs, inPieces } from '../ground/base/sweeps.ts'
import type { Log } from '../ground/db/log.ts'
import { ensurePartitions } from '../ground/db/partitions.ts'
import type { App } from '../ground/http/http.ts'
import { retiredKeysDue } from '../ground/sealing/data-key-sweeps.ts'
import type { DataKeys } from '../ground/sealing/data-keys.ts'
import type { Vault } from '../ground/sealing/vault.ts'
import { eraseNext } from './erase.ts'
import { erasureRoutes } from './erase-http.ts'
import { messageSteps } from './erase-messages.ts'
import { deleteReasonsOf } from './erase-store.ts'
import { redactRoutes } from './redact-http.ts'
import { discardDue } from './redact-later.ts'
import { resealNext } from './reseal.ts'
import { forgetExpired } from './retention.ts'
import { markAccounts, retainNext } from './retention-account.ts'
import { dropOldDays, deleteOrphans, readLongest } from './retention-days.ts'

// A caller may be slow to repeat a request.
const idempotencyDaysMin = 30

interface JobContext extends Recording, WithRooms {
  vault: Vault
  keys: DataKeys
  log: Log
  receiptTimeoutHours: number
}

export const room = {
  tag: 'Privacy',
  routes(app: App, context: RouteContext) {
    redactRoutes(app, context)
    erasureRoutes(app, context)
  },
  sweeps: {
    jobs(context: JobContext) {
      const { db, keys, log, receiptTimeoutHours, rooms } = context
      const { first, last } = messageSteps(context)
      const steps = [...first, ...rooms.flatMap(({ erase }) => erase ?? []), ...last]
      return [
        inPieces('what is left of messages that are gone', hourMs, 5000, (limit) => deleteOrphans(db, limit)),
        inPieces(
          'texts of messages that are over',
          2000,
          200,
          (limit) => discardDue(db, limit),
          'select check_at from discards order by check_at limit 1',
        ),
        {
          name: 'erasures',
          everyMs: 1000,
          due: 'select due_at from erasures where completed_at is null order by due_at limit 1',
          run: () => forAWhile(5000, () => eraseNext(context, steps)),
        },
        { name: 'new accounts', everyMs: 10_000, run: () => markAccounts(db) },
        {
          name: 'retention of accounts',
          everyMs: 10_000,
          due: 'select due_at from retention_marks order by due_at limit 1',
          run: () => forAWhile(5000, () => retainNext(db)),
        },
        {
          name: 'partitions',
          everyMs: hourMs,
          run: async () => {
            await ensurePartitions(db, log)
            await dropOldDays(db, log, receiptTimeoutHours)
          },
        },
        {
          name: 'retired data keys',
          everyMs: 10_000,
          due: retiredKeysDue,
          run: () => forAWhile(5000, () => resealNext(db, keys)),
        },
        {
          name: 'retention',
          everyMs: hourMs,
          run: async (isOver) => {
            const { messageDays } = await readLongest(db)
            await forgetExpired(context, { receiptTimeoutHours, messageDays }, isOver)
          },
        },
      ]
    },
  },
  destroy: ['idempotency_keys', deleteReasonsOf],
  retain: [
    {
      table: 'idempotency_keys',
      column: 'created_at',
      // A key lives as long as its message: no message is kept longer than this.
      age: ({ messageDays }) => `${Math.max(messageDays, idempotencyDaysMin)} days`,
    },
  ],
} satisfies Room
