import type { Tx } from '../ground/db/db.ts'
import type { CloseStep } from '../events/face.ts'
import { cancelWaiting } from './cancel.ts'
import { recordMoves } from '../message/moved.ts'

const pieceMax = 500

/** A step of closing an account: cancels its queued and delayed messages. */
export const cancelMessagesOf: CloseStep = async (tx, { accountId }, recording) => {
  const ids = await takeWaiting(tx, accountId)
  if (ids.length === 0) return { isDone: true, postings: [] }
  const moved = await cancelWaiting(tx, accountId, { ids })
  return { isDone: false, postings: await recordMoves(tx, moved, recording) }
}

/**
 * Takes messages out of the lines: those of the account's lanes and their backlogs (primary key of queue), and delayed ones. Leaves rows that a claim
 * holds to it.
 */
async function takeWaiting(tx: Tx, accountId: string): Promise<string[]> {
  const { rows } = await tx.query<{ id: string }>({
    name: 'take-waiting-of-account',
    text: `
      with lines as materialized (
        select id from lanes where account_id = $1
        union all
        select b.id from lanes l join backlogs b on b.lane_id = l.id where l.account_id = $1
      ), unqueued as (
        delete from queue
        where ctid = any (array(
          select q.ctid
          from lines
          cross join lateral (select ctid from queue where lane_id = lines.id limit $2 for update skip locked) q
          limit $2))
        returning message_id
      ), undelayed as (
        delete from delayed
        where ctid = any (array(select ctid from delayed where account_id = $1 limit $2 for update skip locked))
        returning message_id
      )
      select message_id as id from unqueued
      union
      select message_id from undelayed`,
    values: [accountId, pieceMax],
  })
  return rows.map(({ id }) => id)
}
