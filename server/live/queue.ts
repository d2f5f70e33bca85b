/** The queue by type and carrier: length, age, and the time until it is empty. */
import { now } from '../ground/db/clock.ts'
import { shareRead } from '../ground/base/shared-read.ts'
import type { Db, Tx } from '../ground/db/db.ts'
import { spanOf, within } from '../ground/db/span.ts'
import type { MessageType } from '../message/message.ts'
import { messageTypes, rankOf } from '../links/lanes.ts'
import type { LinkRow } from '../links/carrier-store.ts'

export interface QueuePart {
  type: MessageType
  /** The carrier it waits for; null: not sorted yet, any may take it. */
  carrierId: string | null
  /** Its lane is paused or its account suspended: it is not claimed. */
  isHeld: boolean
  messages: number
  segments: number
  /** Age of the first in line. */
  oldestAt: Date | null
}

export interface QueueState {
  countedAt: Date
  parts: readonly QueuePart[]
  /** Messages that wait for a time: scheduled ones and retries. */
  delayed: { messages: number; dueAt: Date | null }
}

// A count reads the whole queue, so it may take this part of the time, and callers share it.
const rest = { restFactor: 20, restMs: 1000 }

/** Returns the queue; a caller in a transaction lends its connection, so that none needs two. */
export type QueueReader = (on?: Tx) => Promise<QueueState>

/** The result may be a second old, and older if counting is slow. */
export const createQueueReader = (db: Db): QueueReader => shareRead((on?: Tx) => countQueue(on ?? db), rest)

type WaitingLane = Omit<QueuePart, 'oldestAt'> & { id: string; accountId: string; heads: string[] }
type CountRow = { delayed: number; dueAt: Date | null } & (WaitingLane | { id: null })

/**
 * Counts the queue and delayed messages in one statement, so that one that moves between them is counted. Lanes are counted before they are joined;
 * the oldest is searched among the first ten of each, by the queue's key and the messages' own: only late retries can be older.
 */
async function countQueue(db: Db | Tx): Promise<QueueState> {
  const countedAt = now()
  const { rows } = await db.query<CountRow>({
    name: 'count-queue-lanes',
    text: `
      with counted as (
        select lane_id, count(*)::int as messages, sum(segments)::int as segments
        from queue
        group by lane_id
      ), lane as (
        select c.lane_id as id, l.account_id as "accountId", l.type, b.carrier_id as "carrierId",
          l.is_paused or a.status <> 'active' as "isHeld", c.messages, c.segments,
          array(select message_id from queue where lane_id = c.lane_id order by message_id limit 10) as heads
        from counted c
        left join backlogs b on b.id = c.lane_id
        join lanes l on l.id = coalesce(b.lane_id, c.lane_id)
        join accounts a on a.id = l.account_id
      )
      select d.delayed, d."dueAt", lane.*
      from (select count(*)::int as delayed, min(due_at) as "dueAt" from delayed) d
      left join lane on true`,
  })
  const lanes = rows.filter((row): row is CountRow & WaitingLane => row.id !== null)
  const oldest = await readOldest(db, lanes)
  const parts = new Map<string, QueuePart>()
  for (const { id, type, carrierId, isHeld, messages, segments } of lanes) {
    const key = [type, carrierId, isHeld].join()
    const oldestAt = oldest.get(id) ?? null
    const part = parts.get(key)
    if (!part) parts.set(key, { type, carrierId, isHeld, messages, segments, oldestAt })
    else {
      part.messages += messages
      part.segments += segments
      if (oldestAt && (!part.oldestAt || oldestAt < part.oldestAt)) part.oldestAt = oldestAt
    }
  }
  const { delayed, dueAt } = rows[0] ?? { delayed: 0, dueAt: null }
  return {
    countedAt,
    parts: [...parts.values()].sort((a, b) => rankOf(a.type) - rankOf(b.type)),
    delayed: { messages: delayed, dueAt },
  }
}

/**
 * Ages of the first of each lane at the time of the count, by lane. They may have gone since (most have, in a long queue that drains), so the queue
 * is not read here.
 */
async function readOldest(db: Db | Tx, lanes: readonly WaitingLane[]): Promise<Map<string, Date>> {
  const heads = lanes.flatMap((lane) => lane.heads.map((message) => ({ lane, message })))
  if (heads.length === 0) return new Map()
  const { rows } = await db.query<{ id: string; at: Date | null }>(
    `select k.lane_id as id, min(m.queued_at) as at
     from unnest($1::uuid[], $2::uuid[], $3::uuid[]) as k (lane_id, account_id, message_id)
     cross join lateral (
       select queued_at
       from messages
       where account_id = k.account_id and id = k.message_id and id ${within(spanOf(heads.map(({ message }) => message)))}
       offset 0
     ) m
     group by k.lane_id`,
    [heads.map(({ lane }) => lane.id), heads.map(({ lane }) => lane.accountId), heads.map(({ message }) => message)],
  )
  return new Map(rows.flatMap(({ id, at }) => (at ? [[id, at]] : [])))
}

/** How long the first of a part had waited when it was counted; they may have gone since. Null: there are none. */
export const oldestAgeSeconds = (
  { oldestAt }: QueuePart,
  { countedAt }: Pick<QueueState, 'countedAt'>,
): number | null => oldestAt && Math.max(0, countedAt.getTime() - oldestAt.getTime()) / 1000

/**
 * Seconds until a part of the queue is empty, at the present pace of its carrier's links, with its predecessors; null while no link takes it. An
 * estimate: marketing keeps a twentieth beside the others, and later messages may overtake.
 */
export function drainSecondsOf(
  part: QueuePart,
  parts: readonly QueuePart[],
  links: readonly Pick<LinkRow, 'carrierId' | 'sessions' | 'pace'>[],
): number | null {
  const isSame = (carrierId: string | null): boolean => part.carrierId === null || carrierId === part.carrierId
  const pace = links.reduce((sum, link) => (link.sessions > 0 && isSame(link.carrierId) ? sum + link.pace : sum), 0)
  if (part.isHeld || pace === 0) return null
  const ahead = parts.filter((one) => !one.isHeld && isSame(one.carrierId) && rankOf(one.type) <= rankOf(part.type))
  return ahead.reduce((sum, one) => sum + one.segments, 0) / pace
}

/** The queue of a carrier, one row a type, including empty ones. */
export function partsOfCarrier(state: QueueState, carrierId: string): QueuePart[] {
  const none = { carrierId, isHeld: false, messages: 0, segments: 0, oldestAt: null }
  return messageTypes.map(
    (type) =>
      state.parts.find((part) => part.type === type && part.carrierId === carrierId && !part.isHeld) ?? {
        ...none,
        type,
      },
  )
}
