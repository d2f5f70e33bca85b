/** The rows of carriers, links and senders. Carriers and links belong to the installation; senders to an account. */
import type { Db, Tx } from '../db/db.ts'
import { newId } from '../ids.ts'
import type { SmppSettings } from './settings.ts'

export interface CarrierRow {
  id: string
  name: string
  kind: 'smpp' | 'simulator'
  enabled: boolean
  pace: number
  priority: number
  settings: SmppSettings
  secrets: Buffer | null
  createdAt: Date
  updatedAt: Date
}

const carrierColumns = `
  c.id, c.name, c.kind, c.enabled, c.pace::float8 as pace, c.priority, c.settings, c.secrets,
  c.created_at as "createdAt", c.updated_at as "updatedAt"`

/** All carriers, best first; there are few. */
export async function listCarriers(db: Db | Tx): Promise<CarrierRow[]> {
  const { rows } = await db.query<CarrierRow>(`select ${carrierColumns} from carriers c order by c.priority, c.id`)
  return rows
}

export async function findCarrier(db: Db | Tx, id: string): Promise<CarrierRow | null> {
  const { rows } = await db.query<CarrierRow>(`select ${carrierColumns} from carriers c where c.id = $1`, [id])
  return rows[0] ?? null
}

/** Inserts a carrier with its one link. @throws a unique violation (23505) when the name is taken. */
export async function insertCarrier(tx: Tx, carrier: Omit<CarrierRow, 'createdAt' | 'updatedAt'>): Promise<void> {
  await tx.query(
    `with carrier as (
       insert into carriers (id, name, kind, enabled, pace, priority, settings, secrets)
       values ($1, $2, $3, $4, $5, $6, $7, $8)
       returning id
     )
     insert into links (id, carrier_id) select $9, id from carrier`,
    [
      carrier.id,
      carrier.name,
      carrier.kind,
      carrier.enabled,
      carrier.pace,
      carrier.priority,
      JSON.stringify(carrier.settings),
      carrier.secrets,
      newId(),
    ],
  )
}

export async function updateCarrier(
  tx: Tx,
  carrier: Omit<CarrierRow, 'createdAt' | 'updatedAt' | 'kind'>,
): Promise<void> {
  await tx.query(
    `update carriers
     set name = $2, enabled = $3, pace = $4, priority = $5, settings = $6, secrets = $7, updated_at = now()
     where id = $1`,
    [
      carrier.id,
      carrier.name,
      carrier.enabled,
      carrier.pace,
      carrier.priority,
      JSON.stringify(carrier.settings),
      carrier.secrets,
    ],
  )
}

/** Deletes a carrier and its link. @throws a foreign key violation (23503) while senders belong to it. */
export async function deleteCarrier(tx: Tx, id: string): Promise<void> {
  await tx.query(`delete from carriers where id = $1`, [id])
}

/** A link with what its process says of it. `isStale`: the process is gone or silent. */
export interface LinkRow {
  id: string
  carrierId: string
  carrierName: string
  enabled: boolean
  state: 'down' | 'binding' | 'bound' | 'throttled' | 'disabled'
  isStale: boolean
  sessions: number
  windowMax: number
  inFlight: number
  pace: number
  rate: number
  lastEnquireLinkAt: Date | null
  lastError: string | null
  lastErrorAt: Date | null
  unmatchedReceipts: number
}

/** Links with their live state, of one carrier or of all. Unmatched receipts by the partial index receipts_unmatched. */
export async function listLinks(db: Db | Tx, carrierId: string | null = null): Promise<LinkRow[]> {
  const { rows } = await db.query<LinkRow>(
    `select l.id, l.carrier_id as "carrierId", c.name as "carrierName", c.enabled,
       coalesce(s.state, 'down') as state,
       coalesce(s.updated_at < now() - interval '15 seconds', true) as "isStale",
       coalesce(s.sessions, 0) as sessions, coalesce(s.window_max, 0) as "windowMax", coalesce(s.in_flight, 0) as "inFlight",
       coalesce(s.pace, 0)::float8 as pace, coalesce(s.rate_1m, 0)::float8 as rate,
       s.last_enquire_link_at as "lastEnquireLinkAt", s.last_error as "lastError", s.last_error_at as "lastErrorAt",
       (select count(*) from (select 1 from receipts r where r.link_id = l.id and r.message_id is null limit 10000) u)::int
         as "unmatchedReceipts"
     from links l
     join carriers c on c.id = l.carrier_id
     left join link_states s on s.link_id = l.id
     where $1::uuid is null or l.carrier_id = $1
     order by c.priority, c.id, l.position`,
    [carrierId],
  )
  return rows
}

/** Links of enabled carriers with what it takes to run them. */
export interface RunnableLink {
  id: string
  carrier: CarrierRow
}

export async function listRunnable(db: Db): Promise<RunnableLink[]> {
  const { rows } = await db.query<CarrierRow & { linkId: string }>(
    `select l.id as "linkId", ${carrierColumns}
     from links l
     join carriers c on c.id = l.carrier_id
     where c.enabled and c.kind in ('smpp', 'simulator')`,
  )
  return rows.map(({ linkId, ...carrier }) => ({ id: linkId, carrier }))
}

/** What a process reports of a link it holds. */
export interface LinkReport {
  linkId: string
  state: LinkRow['state']
  sessions: number
  windowMax: number
  inFlight: number
  pace: number
  rate: number
  lastEnquireLinkAt: Date | null
  lastError: string | null
  lastErrorAt: Date | null
}

/**
 * Takes or renews this node's lease of a link, so that one process holds it. True: this node holds it. One row, by primary key; a
 * fenced node's lease is free at once.
 */
export async function leaseLink(db: Db, linkId: string, nodeId: string, seconds: number): Promise<boolean> {
  const { rowCount } = await db.query(
    `insert into link_states as s (link_id, node_id, leased_until)
     select $1, id, now() + make_interval(secs => $3) from nodes where id = $2 and fenced_at is null
     on conflict (link_id) do update
       set node_id = excluded.node_id, leased_until = excluded.leased_until
       where s.node_id is null
         or s.node_id = excluded.node_id
         or s.leased_until < now()
         or exists (select 1 from nodes n where n.id = s.node_id and n.fenced_at is not null)`,
    [linkId, nodeId, seconds],
  )
  return rowCount === 1
}

export async function reportLink(db: Db, nodeId: string, report: LinkReport): Promise<void> {
  await db.query(
    `update link_states
     set state = $3, sessions = $4, window_max = $5, in_flight = $6, pace = $7, rate_1m = $8, last_enquire_link_at = $9,
       last_error = $10, last_error_at = $11, updated_at = now()
     where link_id = $1 and node_id = $2`,
    [
      report.linkId,
      nodeId,
      report.state,
      report.sessions,
      report.windowMax,
      report.inFlight,
      report.pace,
      report.rate,
      report.lastEnquireLinkAt,
      report.lastError,
      report.lastErrorAt,
    ],
  )
}

/** Gives a lease back at a clean stop. */
export async function releaseLink(db: Db, linkId: string, nodeId: string, state: 'down' | 'disabled'): Promise<void> {
  await db.query(
    `update link_states
     set node_id = null, leased_until = null, state = $3, sessions = 0, in_flight = 0, updated_at = now()
     where link_id = $1 and node_id = $2`,
    [linkId, nodeId, state],
  )
}

export interface SenderRow {
  id: string
  carrierId: string
  number: string
  kind: 'long_code' | 'short_code' | 'toll_free' | 'alphanumeric'
  country: string | null
  isDefault: boolean
  createdAt: Date
}

const senderColumns = `id, carrier_id as "carrierId", number, kind, country, is_default as "isDefault", created_at as "createdAt"`

/** An account's senders, oldest first. By primary key prefix. */
export async function listSenders(db: Db, accountId: string): Promise<SenderRow[]> {
  const { rows } = await db.query<SenderRow>(`select ${senderColumns} from senders where account_id = $1 order by id`, [
    accountId,
  ])
  return rows
}

/** Inserts a sender; a new default takes the place of the old one. @throws a unique violation when the number is taken at the carrier. */
export async function insertSender(
  tx: Tx,
  accountId: string,
  sender: Omit<SenderRow, 'createdAt'>,
): Promise<SenderRow> {
  if (sender.isDefault)
    await tx.query(`update senders set is_default = false where account_id = $1 and is_default`, [accountId])
  const { rows } = await tx.query<SenderRow>(
    `insert into senders (account_id, id, carrier_id, number, kind, country, is_default)
     values ($1, $2, $3, $4, $5, $6, $7)
     returning ${senderColumns}`,
    [accountId, sender.id, sender.carrierId, sender.number, sender.kind, sender.country, sender.isDefault],
  )
  const row = rows[0]
  if (!row) throw new Error('the sender was not inserted')
  return row
}

export async function deleteSender(tx: Tx, accountId: string, id: string): Promise<boolean> {
  const { rowCount } = await tx.query(`delete from senders where account_id = $1 and id = $2`, [accountId, id])
  return rowCount === 1
}
