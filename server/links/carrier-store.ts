/** The rows of carriers, links and senders. Carriers and links belong to the installation; senders to an account. */
import type { Db, Tx } from '../ground/db/db.ts'
import { found } from '../ground/base/errors.ts'
import { newId, parseId } from '../ground/base/ids.ts'
import type { HttpSettings, SmppSettings } from './carrier-settings.ts'

type KindAndSettings = { kind: 'smpp' | 'simulator'; settings: SmppSettings } | { kind: 'http'; settings: HttpSettings }

interface CarrierFields {
  id: string
  name: string
  enabled: boolean
  pace: number
  priority: number
  secrets: Buffer | null
}

/** `isTest`: the carrier of test mode. */
export type CarrierRow = CarrierFields & { isTest: boolean; createdAt: Date; updatedAt: Date } & KindAndSettings

const carrierColumns = `
  c.id, c.name, c.kind, c.is_test as "isTest", c.enabled, c.pace::float8 as pace, c.priority, c.settings, c.secrets,
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

/** The carrier whose id a request names. @throws ApiError `not_found`. */
export async function requireCarrier<D extends Db | Tx>(
  db: D,
  shownId: string,
  find: (db: D, id: string) => Promise<CarrierRow | null> = findCarrier,
): Promise<CarrierRow> {
  const id = parseId('car', shownId)
  return found(id && (await find(db, id)), 'There is no such carrier.')
}

/** Locked, because an update writes the whole row. */
export async function lockCarrier(tx: Tx, id: string): Promise<CarrierRow | null> {
  await tx.query('select 1 from carriers where id = $1 for no key update', [id])
  return findCarrier(tx, id)
}

/** Prevents the deletion of a carrier that can have senders until the transaction ends; false if there is none. Locks its row, by primary key. */
export async function holdCarrier(tx: Tx, id: string): Promise<boolean> {
  const { rowCount } = await tx.query('select 1 from carriers where id = $1 and not is_test for key share', [id])
  return rowCount === 1
}

/** Inserts a carrier with its one link. @throws a unique violation (23505) if the name is taken. */
export async function insertCarrier(
  tx: Tx,
  carrier: CarrierFields & KindAndSettings & { isTest?: boolean },
): Promise<void> {
  await tx.query(
    `with carrier as (
       insert into carriers (id, name, kind, enabled, pace, priority, settings, secrets, is_test)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $10)
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
      carrier.isTest ?? false,
    ],
  )
}

/** Updates a carrier; its settings were checked for its kind. */
export async function updateCarrier(tx: Tx, carrier: CarrierFields & { settings: object }): Promise<void> {
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

/** Counts a carrier's senders, and the routes that name it (by route_carriers_carrier; senders are scanned). */
export async function countUses(tx: Tx, id: string): Promise<{ senders: number; routes: number }> {
  const { rows } = await tx.query<{ senders: number; routes: number }>(
    `select (select count(*)::int from senders where carrier_id = $1) as senders,
       (select count(*)::int from route_carriers where carrier_id = $1) as routes`,
    [id],
  )
  return rows[0] ?? { senders: 0, routes: 0 }
}

/** Deletes a carrier and its link. @throws a foreign key violation (23503) while it has senders or routes. */
export async function deleteCarrier(tx: Tx, id: string): Promise<void> {
  await tx.query(`delete from carriers where id = $1`, [id])
}

/** A link with its processes' reports. `isStale`: all of them are gone or silent. */
export interface LinkRow {
  id: string
  carrierId: string
  carrierName: string
  enabled: boolean
  state: 'down' | 'binding' | 'bound' | 'throttled' | 'disabled'
  isStale: boolean
  /** Sums over the processes. */
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

/**
 * Links with their live state, of one carrier or of all: their processes' reports of the last 15 seconds, added up. Unmatched receipts by the partial
 * index receipts_unmatched.
 */
export async function listLinks(db: Db | Tx, carrierId: string | null = null): Promise<LinkRow[]> {
  const { rows } = await db.query<LinkRow>(
    `select l.id, l.carrier_id as "carrierId", c.name as "carrierName", c.enabled and l.enabled as enabled,
       coalesce(s.states[1], 'down') as state,
       s.states is null as "isStale",
       coalesce(s.sessions, 0)::int as sessions, coalesce(s.window_max, 0)::int as "windowMax",
       coalesce(s.in_flight, 0)::int as "inFlight", coalesce(s.pace, 0)::float8 as pace, coalesce(s.rate_1m, 0)::float8 as rate,
       s.last_enquire_link_at as "lastEnquireLinkAt", e.last_error as "lastError", e.last_error_at as "lastErrorAt",
       (select count(*) from (select 1 from receipts r where r.link_id = l.id and r.message_id is null limit 10000) u)::int
         as "unmatchedReceipts"
     from links l
     join carriers c on c.id = l.carrier_id
     left join lateral (
       select array_agg(state order by array_position('{throttled,bound,binding,down,disabled}', state)) as states,
         sum(sessions) as sessions, sum(window_max) as window_max, sum(in_flight) as in_flight, sum(pace) as pace,
         sum(rate_1m) as rate_1m, max(last_enquire_link_at) as last_enquire_link_at
       from link_states
       where link_id = l.id and updated_at > now() - interval '15 seconds'
     ) s on true
     left join lateral (
       select last_error, last_error_at
       from link_states
       where link_id = l.id and last_error_at is not null
       order by last_error_at desc
       limit 1
     ) e on true
     where $1::uuid is null or l.carrier_id = $1
     order by c.priority, c.id, l.position`,
    [carrierId],
  )
  return rows
}

/** A link with all it needs to run: the carrier's settings below its own. */
export type RunnableLink = KindAndSettings & {
  id: string
  /** The first link of its carrier. */
  receiptsId: string
  carrierId: string
  carrierName: string
  /** The carrier of test mode. */
  isTest: boolean
  secrets: Buffer | null
  /** The id under which the secrets are sealed. */
  secretsOf: string
}

/** By primary key. */
export async function findRunnable(db: Db, ids: readonly string[]): Promise<RunnableLink[]> {
  const { rows } = await db.query<RunnableLink>(
    `select l.id, (select f.id from links f where f.carrier_id = l.carrier_id order by f.position limit 1) as "receiptsId",
       l.carrier_id as "carrierId", c.name as "carrierName", c.kind, c.is_test as "isTest", c.settings || l.settings as settings,
       coalesce(l.secrets, c.secrets) as secrets,
       case when l.secrets is null then 'carriers.secrets|' || c.id else 'links.secrets|' || l.id end as "secretsOf"
     from links l
     join carriers c on c.id = l.carrier_id
     where l.id = any ($1::uuid[])`,
    [ids],
  )
  return rows
}

/** A process's report on a link that it runs. */
export interface LinkReport {
  state: LinkRow['state']
  sessions: number
  windowMax: number
  inFlight: number
  pace: number
  /** Part of the pace that refusals have left, 0 to 1. */
  fraction: number
  rate: number
  lastEnquireLinkAt: Date | null
  lastError: string | null
  lastErrorAt: Date | null
}
