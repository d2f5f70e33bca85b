import type { Recording } from '../events/events.ts'
import type { Retention, Room } from '../events/face.ts'
import { inPieces } from '../ground/base/sweeps.ts'
import { inTransaction } from '../ground/db/db.ts'
import { recordMoves } from '../message/moved.ts'
import type { Reasons } from '../message/taxonomy.ts'
import { carrierIdDays, watchReceipts } from './no-receipt.ts'
import { matchOrphans } from './receipt.ts'
import { resolveUnknown } from './resend.ts'
import { triesDue } from './without-id.ts'

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
        inPieces(
          'unmatched receipts',
          5000,
          500,
          async (limit) => {
            const { postings, count } = await inTransaction(db, async (tx) => {
              const moved = await matchOrphans(tx, reasons, limit)
              return { postings: await recordMoves(tx, moved, context), count: moved.length }
            })
            outbox.offer(postings)
            return count
          },
          'select now() from receipts where message_id is null limit 1',
        ),
        // Receipts are adopted within a second; messages to be resent have waited for them.
        inPieces('unknown outcomes', 1000, 200, (limit) => resolveUnknown(context, limit), triesDue),
        inPieces('messages without a receipt', 60_000, 500, endLate),
      ]
    },
  },
  retain: [
    { table: 'carrier_ids', column: 'at', age: ofIds },
    { table: 'nameless_tries', column: 'noted_at', age: ofIds },
    // Longer than any validity: nothing is resent after it.
    { table: 'crashes', column: 'at', age: '4 days' },
  ],
} satisfies Room
