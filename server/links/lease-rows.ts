/** The basis of lease decisions: links, slots, and processes' reports. */
import type { Queryable } from '../ground/db/db.ts'
import { recoverPerSecond } from './pace.ts'

export interface LinkRow {
  id: string
  carrierId: string
  kind: 'smpp' | 'http' | 'simulator'
  version: string
  pace: number
  sessions: number
}

export interface SlotRow {
  linkId: string
  slot: number
  nodeId: string | null
  epoch: string
  isLive: boolean
}

export interface StateRow {
  linkId: string
  nodeId: string
  units: number
  sessions: number
  isUp: boolean
  isBindingIdle: boolean
  fraction: number
  isLive: boolean
}

const list = (rows: string): string => `(select coalesce(json_agg(r), '[]') from (${rows}) r)`

/**
 * All of them, links of enabled carriers in the order of their carriers; null if this node is fenced. Reads each table whole; they are small. May lock
 * the node.
 */
export async function readLeases(
  db: Queryable,
  nodeId: string,
  lock: 'for share' | '',
): Promise<{ links: LinkRow[]; slots: SlotRow[]; states: StateRow[] } | null> {
  const { rows } = await db.query<{ links: LinkRow[]; slots: SlotRow[]; states: StateRow[] }>({
    name: `read-leases ${lock}`,
    text: `
      select
        ${list(`
          select l.id, l.carrier_id as "carrierId", c.kind, coalesce(l.pace, c.pace)::float8 as pace,
            coalesce((l.settings ->> 'sessions')::int, (c.settings ->> 'sessions')::int, 1) as sessions,
            md5(c.settings::text || l.settings::text || coalesce(l.secrets, c.secrets, '')::text) as version
          from links l
          join carriers c on c.id = l.carrier_id
          where c.enabled and l.enabled
          order by c.priority, c.id, l.position`)} as links,
        ${list(`
          select s.link_id as "linkId", s.slot, s.node_id as "nodeId", s.epoch::text as epoch,
            s.leased_until > now() and n.id is not null and n.fenced_at is null as "isLive"
          from link_slots s
          left join nodes n on n.id = s.node_id`)} as slots,
        ${list(`
          select s.link_id as "linkId", s.node_id as "nodeId", s.units, s.sessions,
            s.state in ('bound', 'throttled') as "isUp",
            s.state = 'binding' and s.in_flight = 0 as "isBindingIdle",
            least(1, s.pace_fraction + extract(epoch from now() - s.updated_at) * $2)::float8 as fraction,
            s.leased_until > now() and n.fenced_at is null as "isLive"
          from link_states s
          join nodes n on n.id = s.node_id`)} as states
      from nodes
      where id = $1 and fenced_at is null
      ${lock}`,
    values: [nodeId, recoverPerSecond],
  })
  return rows[0] ?? null
}
