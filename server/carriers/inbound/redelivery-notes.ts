/**
 * What processes tell each other of the deliveries that they have answered (`redelivery.ts`): the last equal one in `reply_hashes`, with how
 * many may come again, and in `reply_notings` up to when all doubts of a process are there, and
 * who was asked to find out whether its answers have arrived.
 */
import { columns } from '../../db/array.ts'
import type { Db, Tx } from '../../db/db.ts'

/** A delivery, by what is the same when it comes again, and the id of its own. */
interface Noted {
  linkId: string
  hash: Buffer
  id: string
}

/** How a delivery has come. */
interface Coming {
  /** Id of the one that it may repeat, of those that this process knows. */
  earlier: string | null
  nodeId: string
  /** Seconds since it came. */
  waited: number
  /** Its session is. */
  isLost: boolean
  /** Its carrier waits no longer, and may have given it to another. */
  isLeft: boolean
  /** Its carrier may have stopped waiting: what another has stored since it came may be the same. */
  isLate: boolean
  /** What the process that has an equal one was asked. */
  ask: Ask | null
}

/** A process was asked, for the nth time, whether its answers have arrived. */
export interface Ask {
  nodeId: string
  number: string
}

/** How far back an equal delivery counts. */
export const windowMinutes = 10
// Longer than a heartbeat of a node: whoever is silent for so long has lost its sessions.
const nodeSilenceSeconds = 5
/** What a carrier gives to the next session may be there so long before the end of the last one is. */
export const networkSeconds = 0.5

/** Its carrier has no answer, or waits for none: it gives it again, or has done so. */
export class Unanswerable extends Error {}

/** Another process has an equal delivery, or is just storing it, and has not yet told whether its answer arrived. */
export class NotYetTold extends Error {
  /** Null where it is just storing it. */
  readonly nodeId: string | null

  constructor(nodeId: string | null) {
    super()
    this.nodeId = nodeId
  }
}

/**
 * Whether a delivery is to be stored; notes it. A delivery that it may repeat (`earlier`) counts if that was stored after all. Else the
 * database tells whether another process is in doubt about its answer to an equal one, or died after it: it may repeat that one as well. One
 * row, by primary key; waits for who has it.
 * @throws NotYetTold where that process may not have told yet, and Unanswerable where there is an equal one and the session is lost, the
 *   carrier waits no longer, or may not and the other came since; notes nothing then.
 */
export async function noteDelivery(
  tx: Tx,
  delivery: Noted & { isNamed: boolean },
  { earlier, nodeId, waited, isLost, isLeft, isLate, ask }: Coming,
): Promise<boolean> {
  const { rows } = await tx.query<{ isFirst: boolean; isTold: boolean; isCrossed: boolean; teller: string | null }>(
    `with equal as (
       select h.delivery, h.node_id,
         h.doubts > 0 or (h.node_id <> $3 and b.seen_at is null) as is_doubtful,
         $6 or not $11 and (
           h.doubts > 0 or (h.node_id <> $3 and b.seen_at is null) or coalesce(h.delivery = $5, false)
             or not ($12 or c.is_crossed) and (
               h.node_id = $3 or b.seen_at is null
                 or coalesce(h.node_id = $14 and n.met >= $15::bigint
                   and n.noted_to > now() + make_interval(secs => $10::float8 - $9::float8), false)
             )
         ) as is_told,
         c.is_crossed
       from reply_hashes h
       cross join lateral (
         select $13 and h.node_id <> $3 and h.received_at > now() - make_interval(secs => $9::float8) as is_crossed) c
       left join reply_notings n on n.node_id = h.node_id
       left join lateral (
         select b.seen_at
         from heartbeats b
         join nodes n on n.id = b.node_id and n.fenced_at is null
         where b.node_id = h.node_id and b.seen_at > now() - make_interval(secs => $8)) b on true
       where h.link_id = $1
         and h.hash = $2
         and h.received_at > now() - make_interval(mins => $7)
     ), noted as (
       insert into reply_hashes as h (link_id, hash, node_id, delivery)
       select $1, $2, $3, $4
       where not exists (select 1 from equal where not is_told)
       on conflict (link_id, hash) do update
         set received_at = now(), node_id = excluded.node_id, delivery = excluded.delivery,
           doubts = case when h.delivery = $5 then h.doubts else greatest(h.doubts - 1, 0) end
         where exists (select 1 from equal)
           or h.node_id = excluded.node_id
           or h.received_at <= now() - make_interval(mins => $7)
       returning h.hash
     )
     select
       not exists (
         select 1
         from equal
         where $6 or is_doubtful or delivery = $5
       ) as "isFirst",
       exists (select 1 from noted) as "isTold",
       exists (select 1 from equal where is_crossed) as "isCrossed",
       (select node_id from equal) as teller`,
    [
      delivery.linkId,
      delivery.hash,
      nodeId,
      delivery.id,
      earlier,
      delivery.isNamed,
      windowMinutes,
      nodeSilenceSeconds,
      waited,
      networkSeconds,
      isLost,
      isLeft,
      isLate,
      ask?.nodeId ?? null,
      ask?.number ?? null,
    ],
  )
  const [found] = rows
  if (found?.isTold === false)
    throw isLost || isLeft || found.isCrossed ? new Unanswerable() : new NotYetTold(found.teller)
  return found?.isFirst ?? true
}

/** Each of these may come once more, to any process; of the unknown those that were stored after all. By primary key. */
export async function noteDoubts(db: Db, lost: readonly Noted[], unknown: readonly Noted[]): Promise<void> {
  await db.query(
    `with l as (
       select link_id, hash, count(*)::int as doubts
       from unnest($1::uuid[], $2::bytea[]) as l (link_id, hash)
       group by link_id, hash
     ), u as (
       select * from unnest($3::uuid[], $4::bytea[], $5::uuid[]) as u (link_id, hash, delivery)
     )
     update reply_hashes h
     set doubts = h.doubts + k.doubts
     from (
       select link_id, hash, null::uuid as delivery, doubts from l
       union all
       select link_id, hash, delivery, 1 from u
     ) k
     where h.link_id = k.link_id and h.hash = k.hash and (k.delivery is null or h.delivery = k.delivery)`,
    columns([
      lost.map((one) => one.linkId),
      lost.map((one) => one.hash),
      unknown.map((one) => one.linkId),
      unknown.map((one) => one.hash),
      unknown.map((one) => one.id),
    ]),
  )
}

/** Asks another process to find out whether all that it has answered until now has arrived. By primary key; null where it has never told anything. */
export async function askProcess(db: Db, nodeId: string): Promise<Ask | null> {
  const { rows } = await db.query<{ number: string }>(
    `update reply_notings set asks = asks + 1 where node_id = $1 returning asks as number`,
    [nodeId],
  )
  return rows[0] ? { nodeId, number: rows[0].number } : null
}

/**
 * Tells that all doubts up to a time are noted, if it is known, and which ask is met. Answers the database's time: what had come to the sockets
 * until then was read before whoever waits for this goes on; and the last ask where it is not met.
 */
export async function tellNoted(
  db: Db,
  nodeId: string,
  notedTo: Date | null,
  met: string | null,
): Promise<{ now: Date | null; ask: string | null }> {
  const { rows } = await db.query<{ now: Date; ask: string | null }>(
    `insert into reply_notings as n (node_id, noted_to) values ($1, coalesce($2::timestamptz, '-infinity'))
     on conflict (node_id) do update
       set noted_to = coalesce($2::timestamptz, n.noted_to), met = greatest(n.met, $3::bigint)
     returning now() as now, case when n.asks > n.met then n.asks end as ask`,
    [nodeId, notedTo, met],
  )
  return rows[0] ?? { now: null, ask: null }
}
