/** SQL of credentials: users, keys and the tokens of logins. */
import type { Queryable } from '../db/db.ts'
import { scopesOf, type Role } from './roles.ts'

/** What the database knows of a token or key. */
export interface Credential {
  accountId: string
  accountStatus: 'active' | 'suspended'
  kind: 'key' | 'token'
  id: string
  mode: 'live' | 'test'
  scopes: string[]
  /** SHA-256 of the whole token. */
  hash: Buffer
  isRevoked: boolean
  /** By the database's clock; null: never. */
  expiresInMs: number | null
}

/**
 * A key by its public id. Notes its use once a minute, and only where the secret is right: that locks the key's row, briefly.
 * Served by the unique index on public_id.
 */
export async function findKey(db: Queryable, publicId: string, hash: Buffer): Promise<Credential | null> {
  const { rows } = await db.query<Credential>({
    name: 'find-key',
    text: `
      with used as (
        update api_keys
        set last_used_at = now()
        where public_id = $1
          and secret_hash = $2
          and revoked_at is null
          and (last_used_at is null or last_used_at < now() - interval '1 minute')
      )
      select
        k.account_id as "accountId",
        a.status as "accountStatus",
        'key' as kind,
        k.id,
        k.mode,
        k.scopes,
        k.secret_hash as hash,
        k.revoked_at is not null as "isRevoked",
        (extract(epoch from k.expires_at - now()) * 1000)::float8 as "expiresInMs"
      from api_keys k
      join accounts a on a.id = k.account_id
      where k.public_id = $1`,
    values: [publicId, hash],
  })
  return rows[0] ?? null
}

/**
 * An access token by its hash (primary key), with the user or key it came from: it does not outlive them. `user_id` is the user of a
 * login, or the key of a login with client credentials; the two are both UUIDv7 and cannot meet.
 */
export async function findAccessToken(db: Queryable, hash: Buffer): Promise<Credential | null> {
  const { rows } = await db.query<Credential>({
    name: 'find-access-token',
    text: `
      select
        t.account_id as "accountId",
        a.status as "accountStatus",
        'token' as kind,
        t.user_id as id,
        coalesce(k.mode, 'live') as mode,
        t.scopes,
        t.hash,
        t.revoked_at is not null or coalesce(u.status = 'disabled', k.revoked_at is not null, true) as "isRevoked",
        (extract(epoch from t.expires_at - now()) * 1000)::float8 as "expiresInMs"
      from tokens t
      join accounts a on a.id = t.account_id
      left join users u on u.account_id = t.account_id and u.id = t.user_id
      left join api_keys k on k.account_id = t.account_id and k.id = t.user_id
      where t.hash = $1
        and t.kind = 'access'`,
    values: [hash],
  })
  return rows[0] ?? null
}

/** Whose login it is: a user, or a key that logged in with its client credentials (email and role are null then). */
export interface Owner {
  accountId: string
  accountName: string
  id: string
  email: string | null
  role: Role | null
  scopes: string[]
}

interface OwnerRow extends Omit<Owner, 'scopes'> {
  isOperator: boolean
  scopes: string[] | null
}

const ownerOf = ({ isOperator, scopes, ...row }: OwnerRow): Owner => ({
  ...row,
  scopes: scopes ?? (row.role === null ? [] : scopesOf(row.role, isOperator)),
})

/** A user by its address (unique index on lower(email)), with what checking its password needs. */
export async function findUser(
  db: Queryable,
  email: string,
): Promise<{ owner: Owner; passwordHash: string; isActive: boolean; accountStatus: string } | null> {
  const { rows } = await db.query<OwnerRow & { passwordHash: string; isActive: boolean; accountStatus: string }>({
    name: 'find-user',
    text: `
      select
        u.account_id as "accountId",
        a.name as "accountName",
        a.status as "accountStatus",
        u.id,
        u.email,
        u.role,
        u.is_operator as "isOperator",
        null::text[] as scopes,
        u.password_hash as "passwordHash",
        u.status = 'active' as "isActive"
      from users u
      join accounts a on a.id = u.account_id
      where lower(u.email) = lower($1)`,
    values: [email],
  })
  if (!rows[0]) return null
  const { passwordHash, isActive, accountStatus, ...row } = rows[0]
  return { owner: ownerOf(row), passwordHash, isActive, accountStatus }
}

/** The active user or key with this id, or null: both by primary key. A key's scopes are its own, a user's come from the role. */
export async function findOwner(db: Queryable, accountId: string, id: string): Promise<Owner | null> {
  const { rows } = await db.query<OwnerRow>({
    name: 'find-owner',
    text: `
      select
        a.id as "accountId",
        a.name as "accountName",
        $2::uuid as id,
        u.email,
        u.role,
        coalesce(u.is_operator, false) as "isOperator",
        k.scopes
      from accounts a
      left join users u on u.account_id = a.id and u.id = $2 and u.status = 'active'
      left join api_keys k
        on k.account_id = a.id
        and k.id = $2
        and k.revoked_at is null
        and (k.expires_at is null or k.expires_at > now())
      where a.id = $1
        and a.status = 'active'
        and coalesce(u.id, k.id) is not null`,
    values: [accountId, id],
  })
  return rows[0] ? ownerOf(rows[0]) : null
}

/** Replaces a password hash that was made with older parameters, unless the password was changed meanwhile. */
export async function replaceHash(db: Queryable, owner: Owner, from: string, to: string): Promise<void> {
  await db.query({
    name: 'replace-hash',
    text: `
      update users
      set password_hash = $4, updated_at = now()
      where account_id = $1
        and id = $2
        and password_hash = $3`,
    values: [owner.accountId, owner.id, from, to],
  })
}
