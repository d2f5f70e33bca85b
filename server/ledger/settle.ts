/** What a dead node left: segments that may or may not have reached a carrier. Nobody can tell, so their outcome is unknown. */
import type { Db } from '../ground/db/db.ts'
import { noteCrashes, parkPoison } from './crash.ts'
import type { Ledger } from './ledger.ts'

// Bounded pieces, so that one crash with a large window does not hold the ledger for long.
const pieceMax = 500

/** A segment with a carrier, as a node has left it. */
export interface Intent {
  accountId: string
  messageId: string
  segment: number
  try: number
  linkId: string
  at: Date
}

/** Ends every segment that a fenced node had with a carrier as unknown: its messages become unconfirmed, until a late receipt says
 * more or they are sent again. Repeatable. */
export async function settleIntents(db: Db, ledger: Ledger, nodeId: string): Promise<number> {
  return (
    (await settle(db, ledger, nodeId, () => readIntents(db, nodeId, pieceMax))) +
    (await settle(db, ledger, nodeId, () => readDirect(db, nodeId, pieceMax)))
  )
}

/** Intents of a node, by the primary key; the segments of a message in their order. */
export async function readIntents(db: Db, nodeId: string, limit: number | null = null): Promise<Intent[]> {
  const { rows } = await db.query<Intent>(
    `select account_id as "accountId", message_id as "messageId", segment, try, link_id as "linkId", at
     from intents
     where node_id = $1
     order by account_id, message_id, segment
     limit $2`,
    [nodeId, limit],
  )
  return rows
}

/**
 * Messages of one segment that a node had soon after their acceptance: they have no intents. Looks from the node's low-water mark on, by the
 * BRIN index on ids: what it read last was with it then, or came later.
 */
export async function readDirect(db: Db, nodeId: string, limit: number | null = null): Promise<Intent[]> {
  const { rows } = await db.query<Intent>(
    `select m.account_id as "accountId", m.id as "messageId", 1 as segment, m.attempts as try, m.link_id as "linkId", m.created_at as at
     from messages m
     where m.id >= (select coalesce(low_water, node_id) from heartbeats where node_id = $1)
       and m.node_id = $1
       and m.status = 'sending'
     limit $2`,
    [nodeId, limit],
  )
  return rows
}

async function settle(db: Db, ledger: Ledger, nodeId: string, read: () => Promise<Intent[]>): Promise<number> {
  let settled = 0
  for (;;) {
    const rows = await read()
    if (rows.length === 0) return settled
    // Before the intents are gone: a settling process may end, too.
    await noteCrashes(db, nodeId, rows)
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
    await parkPoison(db, rows)
    settled += rows.length
  }
}
