/** The basis of lease decisions: links, slots, and processes' reports. Reads each table whole; they are small. */
import type { Tx } from '../ground/db/db.ts'
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

/** Links of enabled carriers, best carrier first; there are few. */
export async function readLinks(tx: Tx): Promise<LinkRow[]> {
  const { rows } = await tx.query<LinkRow>({
    name: 'lease-links',
    text: `
      select l.id, l.carrier_id as "carrierId", c.kind, coalesce(l.pace, c.pace)::float8 as pace,
        coalesce((l.settings ->> 'sessions')::int, (c.settings ->> 'sessions')::int, 1) as sessions,
        md5(c.settings::text || l.settings::text || coalesce(l.secrets, c.secrets, '')::text) as version
      from links l
      join carriers c on c.id = l.carrier_id
      where c.enabled and l.enabled
      order by c.priority, c.id, l.position`,
  })
  return rows
}

export async function readSlots(tx: Tx): Promise<SlotRow[]> {
  const { rows } = await tx.query<SlotRow>({
    name: 'lease-slots',
    text: `
      select s.link_id as "linkId", s.slot, s.node_id as "nodeId", s.epoch::text as epoch,
        s.leased_until > now() and n.id is not null and n.fenced_at is null as "isLive"
      from link_slots s
      left join nodes n on n.id = s.node_id`,
  })
  return rows
}

export async function readStates(tx: Tx): Promise<StateRow[]> {
  const { rows } = await tx.query<StateRow>({
    name: 'lease-states',
    text: `
      select s.link_id as "linkId", s.node_id as "nodeId", s.units, s.sessions,
        s.state in ('bound', 'throttled') as "isUp",
        s.state = 'binding' and s.in_flight = 0 as "isBindingIdle",
        least(1, s.pace_fraction + extract(epoch from now() - s.updated_at) * $1)::float8 as fraction,
        s.leased_until > now() and n.fenced_at is null as "isLive"
      from link_states s
      join nodes n on n.id = s.node_id`,
    values: [recoverPerSecond],
  })
  return rows
}
