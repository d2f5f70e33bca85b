/** The rows of a carrier's links: settings that replace the carrier's. */
import type { Db, Tx } from '../ground/db/db.ts'
import type { SmppSettings } from './carrier-settings.ts'

/** Settings that a link may have of its own: address, login and pace. The form of texts and receipts is the carrier's. */
export const ownSettings = [
  'host',
  'port',
  'system_id',
  'system_type',
  'bind',
  'tls',
  'tls_ca',
  'sessions',
  'window',
  'response_timeout_seconds',
  'enquire_link_seconds',
  'enquire_timeout_seconds',
  'bind_timeout_seconds',
  'on_unknown',
] as const satisfies readonly (keyof SmppSettings)[]

export interface OwnLink {
  id: string
  carrierId: string
  enabled: boolean
  /** Segments a second; null: the carrier's. */
  pace: number | null
  settings: Partial<Pick<SmppSettings, (typeof ownSettings)[number]>>
  /** Its password, sealed; null: the carrier's. */
  secrets: Buffer | null
}

/** Locks the link. */
export async function lockLink(tx: Tx, id: string): Promise<OwnLink | null> {
  const { rows } = await tx.query<OwnLink>(
    `select id, carrier_id as "carrierId", enabled, pace::float8 as pace, settings, secrets
     from links
     where id = $1
     for update`,
    [id],
  )
  return rows[0] ?? null
}

/** Adds a link after the others of its carrier. */
export async function insertLink(tx: Tx, link: OwnLink): Promise<void> {
  // The lock on the carrier keeps two links from taking one position.
  await tx.query(`select 1 from carriers where id = $1 for update`, [link.carrierId])
  await tx.query(
    `insert into links (id, carrier_id, position, enabled, pace, settings, secrets)
     select $1, $2, coalesce(max(position), 0) + 1, $3, $4, $5, $6
     from links
     where carrier_id = $2`,
    [link.id, link.carrierId, link.enabled, link.pace, JSON.stringify(link.settings), link.secrets],
  )
}

export async function updateLink(tx: Tx, link: OwnLink): Promise<void> {
  await tx.query(
    `update links
     set enabled = $2, pace = $3, settings = $4, secrets = $5, updated_at = now()
     where id = $1`,
    [link.id, link.enabled, link.pace, JSON.stringify(link.settings), link.secrets],
  )
}

/** Deletes a link unless it is its carrier's first, under which the carrier's ids are known: then false. */
export async function deleteLink(tx: Tx, { id, carrierId }: OwnLink): Promise<boolean> {
  await tx.query(`select 1 from carriers where id = $1 for update`, [carrierId])
  const { rowCount } = await tx.query(
    `delete from links
     where id = $1
       and exists (select 1 from links first where first.carrier_id = $2 and first.position < links.position)`,
    [id, carrierId],
  )
  return rowCount === 1
}

/** Own settings of the links of one carrier or of all; there are few. */
export async function listOwn(db: Db | Tx, carrierId: string | null): Promise<OwnLink[]> {
  const { rows } = await db.query<OwnLink>(
    `select id, carrier_id as "carrierId", enabled, pace::float8 as pace, settings, secrets
     from links
     where $1::uuid is null or carrier_id = $1
     order by carrier_id, position`,
    [carrierId],
  )
  return rows
}
