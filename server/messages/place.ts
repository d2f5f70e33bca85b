/** Where a queued message stands: how much is before it in its lane, and whether the carrier it waits for can be reached at all. */
import type { Db } from '../db/db.ts'
import type { MessageRow } from './message.ts'

/** The place of a message in line. */
export interface Place {
  /** Segments before it in its own lane, counted up to a bound. */
  ahead: number
  /** The carrier it waits for; null: not known before its turn. */
  carrierId: string | null
  /** Why it waits longer than its turn; null: it does not. */
  holdReason: string | null
}

// Longer lines are told apart by days; reading them for one message is not worth it.
const aheadMax = 50_000

/**
 * Finds the place of a queued message; null where it is not in the queue (it waits for a time, or a link has it). Its row in the queue by
 * the account's few lanes and their parts; what is before it by the queue's key. A link is up where its process said so within 15 seconds.
 */
export async function findPlace(db: Db, { accountId, id, holdReason }: MessageRow): Promise<Place | null> {
  const { rows } = await db.query<{
    ahead: number
    carrierId: string | null
    isPaced: boolean
    isPaused: boolean
    isReachable: boolean
  }>({
    name: 'find-place',
    text: `
      with place as (
        select q.lane_id, part.carrier_id, part.is_paced
        from (
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
        ) part
        join queue q on q.lane_id = part.id and q.message_id = $2
        limit 1
      )
      select place.carrier_id as "carrierId", place.is_paced as "isPaced",
        (select coalesce(sum(segments), 0) from (
          select segments from queue where lane_id = place.lane_id and message_id < $2 limit ${aheadMax}) before)::int as ahead,
        exists (
          select 1
          from link_states s
          join links l on l.id = s.link_id
          where s.state in ('bound', 'throttled')
            and s.updated_at > now() - interval '15 seconds'
            and (place.carrier_id is null or l.carrier_id = place.carrier_id)
        ) as "isReachable",
        exists (
          select 1
          from messages m
          join campaigns c on c.account_id = m.account_id and c.id = m.campaign_id and c.status = 'paused'
          where m.account_id = $1 and m.id = $2 and not m.is_confirmation
        ) as "isPaused"
      from place`,
    values: [accountId, id],
  })
  const [row] = rows
  if (!row) return null
  const { ahead, carrierId, isPaced, isPaused, isReachable } = row
  if (isPaused) return { ahead, carrierId, holdReason: 'campaign_paused' }
  // What its row says of its carrier is as old as the last look at it.
  if (!isReachable) return { ahead, carrierId, holdReason: 'no_route' }
  if (holdReason !== null && holdReason !== 'no_route') return { ahead, carrierId, holdReason }
  return { ahead, carrierId, holdReason: isPaced ? 'rate' : null }
}
