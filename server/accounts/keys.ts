/** API keys: long-lived tokens with a subset of their maker's scopes, shown once. */
import type { Queryable, Tx } from '../db/db.ts'
import { newId } from '../ids.ts'
import { hashToken } from '../secrets.ts'
import { newKey } from './token.ts'

/** A key as the database has it; never its secret. */
export interface KeyRow {
  id: string
  publicId: string
  name: string
  mode: 'live' | 'test'
  scopes: string[]
  createdAt: Date
  expiresAt: Date | null
  lastUsedAt: Date | null
}

interface NewKey {
  name: string
  mode: 'live' | 'test'
  scopes: readonly string[]
  /** Null: never. */
  expiresAt: Date | null
}

const columns = `
  id,
  public_id as "publicId",
  name,
  mode,
  scopes,
  created_at as "createdAt",
  expires_at as "expiresAt",
  last_used_at as "lastUsedAt"`

/** Makes a key. `secret` is all there will ever be of it. */
export async function createKey(tx: Tx, accountId: string, input: NewKey): Promise<{ row: KeyRow; secret: string }> {
  const { key, publicId } = newKey(input.mode)
  const { rows } = await tx.query<KeyRow>({
    name: 'create-key',
    text: `
      insert into api_keys (account_id, id, public_id, secret_hash, name, mode, scopes, expires_at)
      values ($1, $2, $3, $4, $5, $6, $7, $8)
      returning ${columns}`,
    values: [accountId, newId(), publicId, hashToken(key), input.name, input.mode, input.scopes, input.expiresAt],
  })
  const row = rows[0]
  if (!row) throw new Error('an insert returned no row')
  return { row, secret: key }
}

/** Keys that are not revoked, from a position on; one more than `limit`. Served by the primary key. */
export async function listKeys(
  db: Queryable,
  accountId: string,
  limit: number,
  position: { direction: 'before' | 'after'; id: string } | null,
): Promise<KeyRow[]> {
  const isAfter = position?.direction === 'after'
  const { rows } = await db.query<KeyRow>(
    `
    select ${columns}
    from api_keys
    where account_id = $1
      and revoked_at is null
      and ($2::uuid is null or id ${isAfter ? '>' : '<'} $2)
    order by id ${isAfter ? 'asc' : 'desc'}
    limit $3`,
    [accountId, position?.id ?? null, limit + 1],
  )
  return rows
}

/** One key that is not revoked, by primary key. */
export async function findKeyRow(db: Queryable, accountId: string, id: string): Promise<KeyRow | null> {
  const { rows } = await db.query<KeyRow>(
    `
    select ${columns}
    from api_keys
    where account_id = $1
      and id = $2
      and revoked_at is null`,
    [accountId, id],
  )
  return rows[0] ?? null
}

/** Revokes a key, and with it the logins that were made with it; false where there is none to revoke. Locks its row. */
export async function revokeKey(tx: Tx, accountId: string, id: string): Promise<boolean> {
  const { rowCount } = await tx.query(
    `
    update api_keys
    set revoked_at = now()
    where account_id = $1
      and id = $2
      and revoked_at is null`,
    [accountId, id],
  )
  return rowCount === 1
}
