/** API keys: long-lived tokens with a subset of their creator's scopes, shown once. */
import type { Queryable, Tx } from '../ground/db/db.ts'
import { newId } from '../ground/base/ids.ts'
import type { PagePlace } from '../ground/http/page.ts'
import { listRows } from '../ground/http/search.ts'
import { hashToken, newKey } from './token.ts'

/** Without the secret, which is not stored. */
export interface KeyRow {
  id: string
  publicId: string
  name: string
  mode: 'live' | 'test'
  scopes: string[]
  /** Networks; empty allows all. */
  ipAllow: string[]
  createdAt: Date
  expiresAt: Date | null
  lastUsedAt: Date | null
  /** End of the previous secret; null if it does not work. */
  previousUntil: Date | null
}

export interface NewKey {
  name: string
  mode: 'live' | 'test'
  scopes: readonly string[]
  ipAllow?: readonly string[]
  /** Null: never. */
  expiresAt: Date | null
}

const columns = `
  id,
  public_id as "publicId",
  name,
  mode,
  scopes,
  ip_allow as "ipAllow",
  created_at as "createdAt",
  expires_at as "expiresAt",
  last_used_at as "lastUsedAt",
  case when previous_until > now() then previous_until end as "previousUntil"`

/** The only time that `secret` is available. */
export async function createKey(tx: Tx, accountId: string, input: NewKey): Promise<{ row: KeyRow; secret: string }> {
  const { key, publicId } = newKey(input.mode)
  const { rows } = await tx.query<KeyRow>({
    name: 'create-key',
    text: `
      insert into api_keys (account_id, id, public_id, secret_hash, name, mode, scopes, expires_at, ip_allow)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
      returning ${columns}`,
    values: [
      accountId,
      newId(),
      publicId,
      hashToken(key),
      input.name,
      input.mode,
      input.scopes,
      input.expiresAt,
      input.ipAllow ?? [],
    ],
  })
  const row = rows[0]
  if (!row) throw new Error('an insert returned no row')
  return { row, secret: key }
}

/** Keys that are not revoked; one more than `limit`. Served by the primary key. */
export const listKeys = (db: Queryable, accountId: string, ...place: PagePlace): Promise<KeyRow[]> =>
  listRows(db, { table: 'api_keys', columns, accountId, found: () => ['revoked_at is null'] }, ...place)

/** Null if it is revoked; by primary key. */
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

/** Also ends the logins made with it; false if there is no such key. Locks its row. */
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

/** Null if it is revoked; by primary key. Undefined fields stay. */
export async function changeKey(
  tx: Tx,
  accountId: string,
  id: string,
  change: {
    name?: string | undefined
    scopes?: readonly string[] | undefined
    ipAllow?: readonly string[] | undefined
  },
): Promise<KeyRow | null> {
  const { rows } = await tx.query<KeyRow>(
    `
    update api_keys
    set name = coalesce($3, name), scopes = coalesce($4, scopes), ip_allow = coalesce($5, ip_allow)
    where account_id = $1
      and id = $2
      and revoked_at is null
    returning ${columns}`,
    [accountId, id, change.name ?? null, change.scopes ?? null, change.ipAllow ?? null],
  )
  return rows[0] ?? null
}

/** The previous secret, with the logins made with it, works for `overlapSeconds` more; the one before that ends now. Locks the key's row. */
export async function rotateKey(
  tx: Tx,
  accountId: string,
  { id, mode, publicId }: KeyRow,
  overlapSeconds: number,
): Promise<{ row: KeyRow; secret: string }> {
  const { key } = newKey(mode, publicId)
  // Otherwise the new end would extend logins that the last rotation has ended or was about to end. By tokens_user.
  await tx.query(
    `
    update tokens t
    set revoked_at = now()
    from api_keys k
    where k.account_id = $1
      and k.id = $2
      and t.account_id = k.account_id
      and t.user_id = k.id
      and t.revoked_at is null
      and t.created_at < k.previous_until`,
    [accountId, id],
  )
  const { rows } = await tx.query<KeyRow>(
    `
    update api_keys
    set
      previous_hash = case when $4 > 0 then secret_hash end,
      previous_until = now() + make_interval(secs => $4),
      secret_hash = $3
    where account_id = $1
      and id = $2
    returning ${columns}`,
    [accountId, id, hashToken(key), overlapSeconds],
  )
  const row = rows[0]
  if (!row) throw new Error('an update of a locked row changed nothing')
  return { row, secret: key }
}

/** Like `findKeyRow`, and locks the row. */
export async function lockKeyRow(tx: Tx, accountId: string, id: string): Promise<KeyRow | null> {
  await tx.query('select 1 from api_keys where account_id = $1 and id = $2 for update', [accountId, id])
  return findKeyRow(tx, accountId, id)
}
