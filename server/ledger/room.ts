/** The face of the ledger. */
import type { Retention, Recording, Room } from '../events/face.ts'
import { untilDone } from '../ground/base/sweeps.ts'
import { inTransaction } from '../ground/db/db.ts'
import { recordMoves } from '../message/moved.ts'
import type { Reasons } from '../message/taxonomy.ts'
import { carrierIdDays, watchReceipts } from './no-receipt.ts'
import { matchOrphans } from './receipt.ts'
import { resolveUnknown } from './resend.ts'

const ofIds: Retention['age'] = ({ receiptTimeoutHours }) => `${receiptTimeoutHours + carrierIdDays * 24} hours`

interface JobContext extends Recording {
  reasons: Reasons
  receiptTimeoutHours: number
}

export const room = {
  sweeps: {
    jobs(context: JobContext) {
      const { db, outbox, reasons, receiptTimeoutHours } = context
      const endLate = watchReceipts(context, receiptTimeoutHours)
      return [
        {
          name: 'unmatched receipts',
          everyMs: 5000,
          run: (isOver) =>
            untilDone(isOver, 500, async (limit) => {
              const { postings, count } = await inTransaction(db, async (tx) => {
                const moved = await matchOrphans(tx, reasons, limit)
                return { postings: await recordMoves(tx, moved, context), count: moved.length }
              })
              outbox.offer(postings)
              return count
            }),
        },
        // Receipts are adopted within a second; what is sent again has waited for them.
        {
          name: 'unknown outcomes',
          everyMs: 1000,
          run: (isOver) => untilDone(isOver, 200, (limit) => resolveUnknown(context, limit)),
        },
        {
          name: 'messages without a receipt',
          everyMs: 60_000,
          run: (isOver) => untilDone(isOver, 500, endLate),
        },
      ]
    },
  },
  retain: [
    { table: 'carrier_ids', column: 'at', age: ofIds },
    { table: 'nameless_tries', column: 'noted_at', age: ofIds },
    // Longer than any message is valid: none is sent again after it.
    { table: 'crashes', column: 'at', age: '4 days' },
  ],
} satisfies Room
