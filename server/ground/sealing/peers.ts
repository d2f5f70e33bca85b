/** The processes that run on a database, and the master keys that they know. */
import type { Queryable } from '../db/db.ts'

/** A process, with the ids of its keys, that which seals first; none where its program is too old to say. */
export interface Peer {
  name: string
  masterKeys: string[]
}

// As many heartbeats are missed by a node that is gone (node.ts).
const silenceMaxSeconds = 15

/** All that beat, by name. */
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
