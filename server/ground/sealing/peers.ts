/** The processes of a database, and their master keys. */
import type { Queryable } from '../db/db.ts'

/** Key ids, the sealing one first; empty if its program is too old to report them. */
export interface Peer {
  name: string
  masterKeys: string[]
}

// The silence after which a node counts as gone (node.ts).
const silenceMaxSeconds = 15

/** Live processes, by name. */
export async function readPeers(db: Queryable): Promise<Peer[]> {
  const { rows } = await db.query<Peer>(
    `select n.name, h.master_keys as "masterKeys"
     from nodes n
     join heartbeats h on h.node_id = n.id
     where n.fenced_at is null
       and h.seen_at > now() - make_interval(secs => $1)
     order by n.name`,
    [silenceMaxSeconds],
  )
  return rows
}
