/** What a dead node left: segments that may or may not have reached a carrier. Nobody can tell, so nothing is sent again. */
import type { Db } from '../db/db.ts'
import type { Ledger } from './ledger.ts'

// Bounded pieces, so that one crash with a large window does not hold the ledger for long.
const pieceMax = 500

/** Ends every intent of a fenced node as unknown: its messages become unconfirmed, until a late receipt says more. Repeatable. */
export async function settleIntents(db: Db, ledger: Ledger, nodeId: string): Promise<number> {
  let settled = 0
  for (;;) {
    const { rows } = await db.query<{
      accountId: string
      messageId: string
      segment: number
      try: number
      linkId: string
      at: Date
    }>(
      `select account_id as "accountId", message_id as "messageId", segment, try, link_id as "linkId", at
       from intents
       where node_id = $1
       limit $2`,
      [nodeId, pieceMax],
    )
    if (rows.length === 0) return settled
    await Promise.all(
      rows.map(({ at, ...intent }) =>
        ledger.answer({
          ...intent,
          nodeId,
          segments: 1,
          state: 'unknown',
          carrierMessageId: null,
          commandStatus: null,
          intentAt: at,
          move: {
            to: 'unconfirmed',
            retryAfterMs: null,
            errorCode: 'outcome_unknown',
            errorRaw: 'the sending process ended',
          },
        }),
      ),
    )
    settled += rows.length
  }
}
