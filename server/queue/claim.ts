/** Claims messages from the queue, in batches by lane. */
import { fieldsOf } from '../ground/db/array.ts'
import { inTransaction, type Db, type Tx } from '../ground/db/db.ts'
import type { Posting, Recording } from '../events/events.ts'
import { isUndecryptable } from '../ground/sealing/texts.ts'
import { handOver, type Handover } from '../message/handover.ts'
import { recordMoves, type Moved } from '../message/moved.ts'
import { claimStatement, isStopped } from './claim-sql.ts'
import type { MessageRow, MessageType, Status } from '../message/message.ts'
import type { QuietHours } from '../quiet-hours/quiet-hours.ts'
import { holdQuiet } from '../quiet-hours/hold.ts'
import type { Recent } from '../message/recent.ts'
import { repriceStrays } from '../message/reprice.ts'

/** A non-empty lane, or the part of one that waits for a carrier (`carrierId`) and a sender or campaign with its own pace. */
export interface Lane {
  /** The lane id of its queue rows. */
  id: string
  /** Its lane, or the lane that it is a part of. */
  laneId: string
  accountId: string
  type: MessageType
  carrierId: string | null
  sender: string | null
  campaignId: string | null
  /** Its lowest message id. */
  head: string
}

/** SQL that has a value if any message is queued. */
export const anyQueued = 'select now() from queue order by lane_id, message_id limit 1'

/**
 * Non-empty lanes that are not paused, of accounts that are not suspended, the oldest message first within a type. One probe of the queue's
 * key for each non-empty lane, whatever its length.
 */
export async function findLanes(db: Db): Promise<Lane[]> {
  const { rows } = await db.query<Lane>({
    name: 'find-lanes',
    text: `
      with recursive waiting as (
        (select lane_id, message_id from queue order by lane_id, message_id limit 1)
        union all
        select next.lane_id, next.message_id
        from waiting w
        cross join lateral (
          select lane_id, message_id from queue where lane_id > w.lane_id order by lane_id, message_id limit 1
        ) next
      )
      select w.lane_id as id, l.id as "laneId", l.account_id as "accountId", l.type, b.carrier_id as "carrierId",
        nullif(b.sender, '') as sender, b.campaign_id as "campaignId", w.message_id as head
      from waiting w
      left join backlogs b on b.id = w.lane_id
      cross join lateral (
        select l.id, l.account_id, l.type, l.is_paused
        from lanes l
        join accounts a on a.id = l.account_id and a.status = 'active'
        where l.id = coalesce(b.lane_id, w.lane_id)
        -- By primary keys: most lanes are empty at any time, and those that are not nobody has counted.
        offset 0
      ) l
      left join campaigns c on c.account_id = l.account_id and c.id = b.campaign_id
      where not l.is_paused
        and (c.id is null or not ${isStopped('c')})
      order by w.message_id`,
  })
  return rows
}

const segmentsMax = 1_000_000

/** A link that takes messages, and its free segments; absent: no limit. One per carrier. */
export interface Room {
  id: string
  carrierId: string
  segments?: number
}

/** `claimed` counts queue rows, including messages that were ended or stay. */
interface Claim {
  handovers: Handover[]
  claimed: number
  /** Rows that stay where they are. */
  stayed: number
  /** The last row's id, and the last id before the first row that stays. */
  lastId: string | null
  clearId: string | null
}

/**
 * Ends claimed messages whose text cannot be opened, in the claim's transaction. The links pass the ledger's function in, because the queue
 * does not depend on the ledger.
 */
export type RejectUndecryptable = (
  tx: Tx,
  nodeId: string,
  claimed: readonly (MessageRow & Pick<Handover, 'linkId' | 'pending'>)[],
) => Promise<Moved[]>

/** Columns of a claim's row beside its message. */
type Claimed = Pick<Handover, 'linkId' | 'pending' | 'isDirect'> & Omit<Claim, 'handovers'>

/**
 * Claims up to `limit` messages of a lane above the id `after`, within the room of this node's links: deletes queue rows and inserts
 * intents in one transaction with the checks that must hold now: not expired, not opted out, still queued, this node not fenced. Messages
 * that fail a check get their final state here. Messages beyond a carrier's room stay or, if `sorts`, move to the part of the lane for that
 * carrier, as do those that wait for a pace. In quiet hours messages leave the queue until these end. Returns after the commit: bytes may
 * be written.
 */
export async function claimMessages(
  context: Recording & { recent: Recent; rejectUndecryptable: RejectUndecryptable },
  nodeId: string,
  rooms: readonly Room[],
  lane: string,
  after: string,
  limit: number,
  options: {
    laneId?: string
    /** Set if messages of the lane may have to wait for quiet hours. */
    quiet?: { hours: QuietHours; accountId: string; type: MessageType } | null
    sender?: string | null
    campaignId?: string | null
    sorts?: boolean
    upCarriers?: readonly string[]
    /** The suffix of one day's partitions: only messages of that day are taken. Default: any day. */
    day?: string
    /** Messages from this id on need no intent (`InFlight.directFrom`). Default: none. */
    directFrom?: string
  } = {},
): Promise<Claim> {
  const { db, outbox } = context
  const {
    laneId = lane,
    quiet = null,
    sender,
    campaignId = null,
    sorts = true,
    upCarriers = rooms.map((room) => room.carrierId),
    day = '',
    directFrom = 'ffffffff-ffff-ffff-ffff-ffffffffffff',
  } = options
  let postings: Posting[] = []
  const { rows, seen } = await inTransaction(db, async (tx) => {
    const look = quiet && (await holdQuiet(tx, quiet.hours, { ...quiet, id: lane, laneId }, after, limit))
    if (look?.open.length === 0)
      return { rows: [], seen: { claimed: look.held, stayed: 0, lastId: look.lastId, clearId: look.lastId } }
    const result = await tx.query<MessageRow & Claimed>({
      ...claimStatement(day),
      values: [
        nodeId,
        lane,
        after,
        limit,
        ...fieldsOf(rooms, 'id', 'carrierId'),
        rooms.map((room) => room.segments ?? segmentsMax),
        laneId,
        sender ?? '',
        sorts,
        upCarriers,
        campaignId,
        look && look.open,
        directFrom,
      ],
    })
    const moved = result.rows.filter((row) => row.id !== null)
    await repriceStrays(tx, moved)
    const ended = moved.filter((row) => row.status !== 'sending' && row.status !== 'queued')
    postings = await recordMoves(
      tx,
      [
        ...ended.map((row): Moved => ({ row, from: 'queued' })),
        ...(await context.rejectUndecryptable(tx, nodeId, moved)),
      ],
      context,
    )
    const { claimed = 0, stayed = 0, lastId = null, clearId = null } = result.rows[0] ?? {}
    return {
      rows: moved.filter((row) => !isUndecryptable(row)),
      seen: { claimed: claimed + (look?.held ?? 0), stayed, lastId, clearId },
    }
  })
  outbox.offer(postings)
  const handovers = rows
    .filter((row) => row.status === 'sending')
    .map(({ linkId, isDirect, pending, claimed: _claimed, stayed: _stayed, lastId: _last, clearId: _clear, ...row }) =>
      handOver(context.recent, row, { linkId, isDirect, pending }),
    )
  return { handovers, ...seen }
}

/** Ends messages with a statement that returns their previous status; returns their number. */
export async function endMessages(context: Recording, text: string, values: unknown[]): Promise<number> {
  const { postings, count } = await inTransaction(context.db, async (tx: Tx) => {
    const { rows } = await tx.query<MessageRow & { from: Status }>(text, values)
    const moved: Moved[] = rows.map(({ from, ...row }) => ({ row, from }))
    return { postings: await recordMoves(tx, moved, context), count: rows.length }
  })
  context.outbox.offer(postings)
  return count
}
