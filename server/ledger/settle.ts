/** Settles a dead node's segments: they may or may not have reached a carrier, so their outcome is unknown. */
import type { Db } from '../ground/db/db.ts'
import { noteCrashes, parkPoison } from './crash.ts'
import type { Ledger } from './ledger.ts'

// Bounded pieces, so that a crash with a large window does not block the ledger for long.
const pieceMax = 500

/** A segment in flight when its node ended. */
export interface Intent {
  accountId: string
  messageId: string
  segment: number
  try: number
  linkId: string
  at: Date
}

/** Ends all segments that a fenced node had in flight as unknown: their messages are unconfirmed until a late receipt or a resend. Repeatable. */
export async function settleIntents(db: Db, ledger: Ledger, nodeId: string): Promise<number> {
  return (
    (await settle(db, ledger, nodeId, () => readIntents(db, nodeId, pieceMax))) +
    (await settle(db, ledger, nodeId, () => readDirect(db, nodeId, pieceMax)))
  )
}

/** Intents of a node, by primary key; the segments of a message in order. */
export async function readIntents(db: Db, nodeId: string, limit: number | null = null): Promise<Intent[]> {
  const { rows } = await db.query<Intent>({
    name: 'read-intents',
    text: `select account_id as "accountId", message_id as "messageId", segment, try, link_id as "linkId", at
     from intents
     where node_id = $1
     order by account_id, message_id, segment
     limit $2`,
    values: [nodeId, limit],
  })
  return rows
}

/**
 * One-segment messages that a node claimed soon after acceptance, without intents. Reads from the node's low-water mark on, by the BRIN index on ids:
 * messages in flight at its last beat, or later ones, are above it.
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
    // Before the intents are deleted: the settling process may crash, too.
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
