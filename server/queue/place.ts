/** Finds the places of queued messages, and why they are held. */
import type { Queryable } from '../ground/db/db.ts'
import type { MessageRow } from '../message/message.ts'

export interface Place extends Hold {
  /** Segments before it in its own lane, counted up to a bound. */
  ahead: number
}

interface Hold {
  /** Null: not known before its turn. */
  carrierId: string | null
  /** Why it waits longer than its turn; null: it does not. */
  holdReason: string | null
}

interface Found {
  id: string
  ahead: number
  carrierId: string | null
  isPaced: boolean
  isPaused: boolean
  isReachable: boolean
}

// Longer queues differ by days; a count for one message is not worth the read.
const aheadMax = 50_000

/** Null if the message is not in the queue (it is delayed, or a link has it). */
export async function findPlace(db: Queryable, row: MessageRow): Promise<Place | null> {
  const [found] = await readPlaces(db, row.accountId, [row], true)
  return found ? { ahead: found.ahead, ...holdOf(found, row) } : null
}

/** Adds holds to messages, for lists: one statement for all queued ones, none without any. */
export async function withHolds(db: Queryable, accountId: string, rows: readonly MessageRow[]): Promise<MessageRow[]> {
  const queued = rows.filter(({ status }) => status === 'queued')
  const places = new Map((await readPlaces(db, accountId, queued, false)).map((found) => [found.id, found]))
  return rows.map((row) => {
    const found = places.get(row.id)
    return found ? { ...row, holdReason: holdOf(found, row).holdReason } : row
  })
}

function holdOf({ carrierId, isPaced, isPaused, isReachable }: Found, { holdReason }: MessageRow): Hold {
  if (isPaused) return { carrierId, holdReason: 'campaign_paused' }
  // The carrier in its row may be outdated.
  if (!isReachable) return { carrierId, holdReason: 'no_route' }
  if (holdReason !== null && holdReason !== 'no_route') return { carrierId, holdReason }
  return { carrierId, holdReason: isPaced ? 'rate' : null }
}

/**
 * Places of queued messages: their rows by the account's few lanes and their parts; if asked, the segments before them by the queue's key.
 * A link is up if its process reported it within 15 seconds.
 */
async function readPlaces(
  db: Queryable,
  accountId: string,
  messages: readonly MessageRow[],
  hasAhead: boolean,
): Promise<Found[]> {
  if (messages.length === 0) return []
  const ahead = `(select coalesce(sum(segments), 0) from (
          select segments from queue where lane_id = place.lane_id and message_id < k.id limit ${aheadMax}) before)::int`
  const { rows } = await db.query<Found>({
    name: hasAhead ? 'find-place' : 'find-holds',
    text: `
      with part as materialized (
        select l.id, null::uuid as carrier_id, coalesce(l.pace, a.pace) is not null as is_paced
        from lanes l
        join accounts a on a.id = l.account_id
        where l.account_id = $1
        union all
        select b.id, b.carrier_id, coalesce(l.pace, a.pace) is not null or b.sender <> '' or b.campaign_id is not null
        from backlogs b
        join lanes l on l.id = b.lane_id
        join accounts a on a.id = l.account_id
        where l.account_id = $1
      ), up as materialized (
        select l.carrier_id
        from link_states s
        join links l on l.id = s.link_id
        where s.state in ('bound', 'throttled')
          and s.updated_at > now() - interval '15 seconds'
      )
      select k.id, place.carrier_id as "carrierId", place.is_paced as "isPaced", ${hasAhead ? ahead : '0'} as ahead,
        exists (select from up where place.carrier_id is null or up.carrier_id = place.carrier_id) as "isReachable",
        exists (
          select from campaigns where account_id = $1 and id = k.campaign_id and status = 'paused'
        ) as "isPaused"
      from unnest($2::uuid[], $3::uuid[]) as k (id, campaign_id)
      cross join lateral (
        select q.lane_id, part.carrier_id, part.is_paced
        from part
        join queue q on q.lane_id = part.id and q.message_id = k.id
        limit 1
      ) place`,
    // Answers to keywords are not held.
    values: [
      accountId,
      messages.map(({ id }) => id),
      messages.map(({ campaignId, isConfirmation }) => (isConfirmation ? null : campaignId)),
    ],
  })
  return rows
}
