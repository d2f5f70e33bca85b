/**
 * The processes' shared knowledge of delivered replies (`redelivery.ts`): the last of equal ones in `reply_hashes`, and in `reply_sessions` the
 * deliveries of a session for which the carrier provably has our answer.
 */
import { columns, fieldsOf } from '../ground/db/array.ts'
import type { Db, Tx } from '../ground/db/db.ts'

interface Place {
  sessionId: string
  number: number
}

/** A delivery, by the fields that a redelivery repeats. `hash` begins with `personOctets` octets that are the same for all of a person. */
export interface Noted extends Place {
  linkId: string
  hash: Buffer
}

export interface Earlier extends Place {
  id: string
  storedSessionId: string
  isLate: boolean
  /** Expected further repeats. */
  doubts: number
  /** Expected further repeats if the session does not prove that the carrier has our answers. */
  unproved: number
  /** Its session has proved that the carrier has our answer. */
  isSure: boolean
  /** Its session is over, or its process is dead. */
  isOver: boolean
  /** It came while this one was already here. */
  isNewer: boolean
}

/** Octets of a hash for the person and our number. */
export const personOctets = 16
/** How long an earlier equal delivery counts. */
const windowMinutes = 10
// Longer than a node's heartbeat: a node that is silent for so long has lost its sessions.
const nodeSilenceSeconds = 5

/**
 * Records a delivery if no equal one came within the window; else returns that one. One row, by primary key; waits for its lock, and sees what the
 * holder committed.
 */
export async function noteFirst(tx: Tx, one: Noted, id: string, waitedSeconds: number): Promise<Earlier | null> {
  for (;;) {
    const { rows } = await tx.query<Partial<Earlier> & { isFirst: boolean }>({
      name: 'note-delivery',
      text: `
        with earlier as (
          select h.delivery as id, h.session_id as "sessionId", h.number::float8 as number, h.stored_session_id as "storedSessionId",
            h.is_late as "isLate", h.doubts, h.unproved, coalesce(h.number <= s.sure_to, false) as "isSure",
            s.id is null or s.over_at is not null or b.seen_at is null as "isOver",
            h.received_at > now() - make_interval(secs => $7) as "isNewer"
          from reply_hashes h
          left join reply_sessions s on s.id = h.session_id
          left join lateral (
            select b.seen_at
            from heartbeats b
            join nodes n on n.id = b.node_id and n.fenced_at is null
            where b.node_id = s.node_id and b.seen_at > now() - make_interval(secs => $8)) b on true
          where h.link_id = $1
            and h.hash = $2
            and h.received_at > now() - make_interval(mins => $6)
        ), noted as (
          insert into reply_hashes as h (link_id, hash, delivery, session_id, number, stored_session_id)
          select $1, $2, $3, $4, $5, $4
          where not exists (select from earlier)
          on conflict (link_id, hash) do update
            set received_at = now(), delivery = excluded.delivery, session_id = excluded.session_id, number = excluded.number,
              stored_session_id = excluded.session_id, is_late = false, doubts = 0, unproved = 0
            where h.received_at <= now() - make_interval(mins => $6)
          returning h.hash
        )
        select exists (select from noted) as "isFirst", e.*
        from (select 1) one
        left join earlier e on true`,
      values: [one.linkId, one.hash, id, one.sessionId, one.number, windowMinutes, waitedSeconds, nodeSilenceSeconds],
    })
    const [found] = rows
    if (found?.isFirst) return null
    if (found?.id != null) return found as Earlier
  }
}

/**
 * Records that a delivery followed an equal one: as a repeat (id null), or as another reply, stored under an id. False if that one is no longer the
 * last. One row, by primary key.
 */
export async function noteAgain(
  tx: Tx,
  one: Noted,
  earlier: Earlier,
  id: string | null,
  { doubts, unproved }: Pick<Earlier, 'doubts' | 'unproved'>,
): Promise<boolean> {
  const { rowCount } = await tx.query(
    `update reply_hashes
     set received_at = now(), session_id = $5, number = $6, is_late = false, doubts = $7, unproved = $8, delivery = coalesce($9, delivery),
       stored_session_id = case when $9::uuid is null then stored_session_id else $5 end
     where link_id = $1 and hash = $2 and session_id = $3 and number = $4`,
    [one.linkId, one.hash, earlier.sessionId, earlier.number, one.sessionId, one.number, doubts, unproved, id],
  )
  return rowCount === 1
}

/** Whether the person sent another reply since, on another session. The primary key's rows of the person. */
export async function isFollowed(tx: Tx, { linkId, hash }: Noted, { id, storedSessionId }: Earlier): Promise<boolean> {
  const person = hash.subarray(0, personOctets)
  const rest = hash.length - personOctets
  const { rows } = await tx.query<{ isFollowed: boolean }>(
    `select exists (
       select from reply_hashes
       where link_id = $1 and hash between $2 and $3 and delivery > $4 and stored_session_id <> $5
     ) as "isFollowed"`,
    [
      linkId,
      Buffer.concat([person, Buffer.alloc(rest)]),
      Buffer.concat([person, Buffer.alloc(rest, 0xff)]),
      id,
      storedSessionId,
    ],
  )
  return rows[0]?.isFollowed ?? false
}

/** Makes a session known before its first delivery is stored. */
export async function noteSession(db: Db, nodeId: string, id: string): Promise<void> {
  await db.query(`insert into reply_sessions (id, node_id) values ($1, $2) on conflict do nothing`, [id, nodeId])
}

/** Has a session's process find out whether its answers have arrived. */
export async function askSession(db: Db, id: string): Promise<void> {
  await db.query(`update reply_sessions set is_asked = true where id = $1 and not is_asked`, [id])
}

/** Proofs of a process's sessions since its last report. */
interface Proof {
  id: string
  sureTo: number
  isOver: boolean
}

/** Writes proofs of sessions, and their deliveries that were answered late. Returns the sessions that others wait for. By primary keys. */
export async function noteProofs(
  db: Db,
  nodeId: string,
  proofs: readonly Proof[],
  late: readonly Noted[],
): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>(
    `with late as (
       update reply_hashes h
       set is_late = true
       from unnest($1::uuid[], $2::bytea[], $3::uuid[], $4::bigint[]) as l (link_id, hash, session_id, number)
       where h.link_id = l.link_id and h.hash = l.hash and h.session_id = l.session_id and h.number = l.number
     ), proved as (
       update reply_sessions s
       set sure_to = p.sure_to, over_at = case when p.is_over then now() end, is_asked = false
       from unnest($5::uuid[], $6::bigint[], $7::boolean[]) as p (id, sure_to, is_over)
       where s.id = p.id
     )
     select id from reply_sessions where node_id = $8 and is_asked`,
    [
      ...columns([
        ...fieldsOf(late, 'linkId', 'hash', 'sessionId', 'number'),
        ...fieldsOf(proofs, 'id', 'sureTo', 'isOver'),
      ]),
      nodeId,
    ],
  )
  return rows.map(({ id }) => id)
}
