import { timingSafeEqual } from 'node:crypto'
import { columns } from '../ground/db/array.ts'
import type { Queryable, Tx } from '../ground/db/db.ts'
import { scopesOf, type Role } from './roles.ts'

export interface Credential {
  accountId: string
  accountStatus: 'active' | 'suspended' | 'closed'
  kind: 'key' | 'token'
  id: string
  /** Null for a key, or its login. */
  userId: string | null
  /** Last confirmation of identity by that user. */
  confirmedAt: Date | null
  mode: 'live' | 'test'
  scopes: string[]
  /** SHA-256 of the whole token. */
  hash: Buffer
  /** The previous secret of a rotated key, while it still works. */
  previousHash: Buffer | null
  /** Requests per second of the account's credentials; null uses the installation's default. */
  apiPerSecond: number | null
  /** The account's, ISO 3166-1 alpha-2. */
  defaultCountry: string | null
  senderCountry: string | null
  /** Networks of the key and its logins; empty allows all. */
  ipAllow: string[]
  isRevoked: boolean
  /** By the database's clock; null: never. */
  expiresInMs: number | null
}

/** The country of the default sender of account `a`. By the unique index senders_default. */
export const senderCountryColumn = `(select s.country from senders s where s.account_id = a.id and s.is_default) as "senderCountry"`

/** Compares in constant time. */
export function isSecretOf({ hash, previousHash }: Credential, given: Buffer): boolean {
  return timingSafeEqual(hash, given) || (previousHash !== null && timingSafeEqual(previousHash, given))
}

/** A presented key: its public id, and the SHA-256 of the whole. */
export interface GivenKey {
  publicId: string
  hash: Buffer
}

/**
 * One result per given key, in order; null if it does not exist. Records the use once a minute, only if the secret is right: that locks
 * the key's row briefly, and waits for no other lock. Served by the unique index on public_id.
 */
export async function findKeys(db: Queryable, given: readonly GivenKey[]): Promise<(Credential | null)[]> {
  const { rows } = await db.query<Credential & { n: number }>({
    name: 'find-keys',
    text: `
      with given as materialized (
        select * from unnest($1::text[], $2::bytea[]) with ordinality as g (public_id, hash, n)
      ), used as (
        update api_keys
        set last_used_at = now()
        where (account_id, id) in (
          select k.account_id, k.id
          from given g
          join api_keys k on k.public_id = g.public_id
          where (k.secret_hash = g.hash or (k.previous_hash = g.hash and k.previous_until > now()))
            and k.revoked_at is null
            and (k.last_used_at is null or k.last_used_at < now() - interval '1 minute')
          for no key update of k skip locked
        )
      )
      select
        g.n::int as n,
        k.account_id as "accountId",
        a.status as "accountStatus",
        'key' as kind,
        k.id,
        null as "userId",
        null as "confirmedAt",
        k.mode,
        k.scopes,
        k.secret_hash as hash,
        case when k.previous_until > now() then k.previous_hash end as "previousHash",
        k.ip_allow as "ipAllow",
        a.api_per_second::float8 as "apiPerSecond",
        a.settings ->> 'default_country' as "defaultCountry", ${senderCountryColumn},
        k.revoked_at is not null as "isRevoked",
        (extract(epoch from k.expires_at - now()) * 1000)::float8 as "expiresInMs"
      from given g
      join api_keys k on k.public_id = g.public_id
      join accounts a on a.id = k.account_id`,
    values: columns([given.map(({ publicId }) => publicId), given.map(({ hash }) => hash)]),
  })
  const found = new Map(rows.map(({ n, ...credential }) => [n, credential]))
  return given.map((_, i) => found.get(i + 1) ?? null)
}

export async function findKey(db: Queryable, publicId: string, hash: Buffer): Promise<Credential | null> {
  const [key = null] = await findKeys(db, [{ publicId, hash }])
  return key
}

interface TokenRow extends Credential {
  ownScopes: string[] | null
  role: Role | null
  isOperator: boolean
}

/**
 * By its hash (primary key), with its user or key: a token does not outlive them, and never has more rights than they have now. `user_id`
 * is the user of a login, or the key of a login with client credentials; both are UUIDv7 and never collide. Logins from before the end of
 * a rotation end with the old secret.
 */
export async function findAccessToken(db: Queryable, hash: Buffer): Promise<Credential | null> {
  const { rows } = await db.query<TokenRow>({
    name: 'find-access-token',
    text: `
      select
        t.account_id as "accountId",
        a.status as "accountStatus",
        'token' as kind,
        t.user_id as id,
        u.id as "userId",
        case when u.id is not null then t.confirmed_at end as "confirmedAt",
        coalesce(k.mode, 'live') as mode,
        t.scopes,
        k.scopes as "ownScopes",
        u.role,
        coalesce(u.is_operator, false) as "isOperator",
        t.hash,
        null as "previousHash",
        coalesce(k.ip_allow, '{}') as "ipAllow",
        a.api_per_second::float8 as "apiPerSecond",
        a.settings ->> 'default_country' as "defaultCountry", ${senderCountryColumn},
        t.revoked_at is not null
          or coalesce(u.status = 'disabled', k.revoked_at is not null, true)
          or coalesce(k.previous_until <= now() and t.created_at < k.previous_until, false) as "isRevoked",
        (extract(epoch from least(t.expires_at, k.expires_at) - now()) * 1000)::float8 as "expiresInMs"
      from tokens t
      join accounts a on a.id = t.account_id
      left join users u on u.account_id = t.account_id and u.id = t.user_id
      left join api_keys k on k.account_id = t.account_id and k.id = t.user_id
      where t.hash = $1
        and t.kind = 'access'`,
    values: [hash],
  })
  if (!rows[0]) return null
  const { ownScopes, role, isOperator, ...token } = rows[0]
  const allowed = new Set<string>(ownScopes ?? (role === null ? [] : scopesOf(role, isOperator)))
  return { ...token, scopes: token.scopes.filter((scope) => allowed.has(scope)) }
}

/** The user of a login, or the key of client credentials (email and role are null then). */
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

export interface LoginUser {
  owner: Owner
  passwordHash: string
  isActive: boolean
  accountStatus: string
  hasTotp: boolean
}

/** Users of an address in all accounts (users_email); latest password first. */
export async function findUsers(db: Queryable, email: string): Promise<LoginUser[]> {
  const { rows } = await db.query<OwnerRow & Omit<LoginUser, 'owner'>>({
    name: 'find-users',
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
        u.status = 'active' as "isActive",
        u.totp_since is not null as "hasTotp"
      from users u
      join accounts a on a.id = u.account_id
      where lower(u.email) = lower($1)
      order by u.updated_at desc, u.id`,
    values: [email],
  })
  return rows.map(({ passwordHash, isActive, accountStatus, hasTotp, ...row }) => ({
    owner: ownerOf(row),
    passwordHash,
    isActive,
    accountStatus,
    hasTotp,
  }))
}

/**
 * The active user or key with this id, or null: both by primary key. Scopes are the key's own, or those of the user's role. `since` is the
 * time of the login or its last refresh, null for a new login. Logins from before the end of a rotation end with it.
 */
export async function findOwner(
  db: Queryable,
  accountId: string,
  id: string,
  since: Date | null = null,
): Promise<Owner | null> {
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
        and ($3::timestamptz is null or coalesce(k.previous_until > now() or k.previous_until <= $3, true))
      where a.id = $1
        and a.status = 'active'
        and coalesce(u.id, k.id) is not null`,
    values: [accountId, id, since],
  })
  return rows[0] ? ownerOf(rows[0]) : null
}

/** Locks a user or key until the commit, so that a request that ends its logins waits for the new one. By primary keys. */
export async function holdOwner(tx: Tx, accountId: string, id: string): Promise<void> {
  for (const table of ['users', 'api_keys'])
    await tx.query(`select 1 from ${table} where account_id = $1 and id = $2 for share`, [accountId, id])
}

/** Also checks that the verified hash is still that of the user's password or the key's secret. */
export async function holdSecret(tx: Tx, { accountId, id }: Owner, hash: string | Buffer): Promise<boolean> {
  const { rowCount } = await tx.query(
    typeof hash === 'string'
      ? `select 1 from users where account_id = $1 and id = $2 and status = 'active' and password_hash = $3 for share`
      : `select 1
         from api_keys
         where account_id = $1
           and id = $2
           and revoked_at is null
           and (secret_hash = $3 or (previous_hash = $3 and previous_until > now()))
         for share`,
    [accountId, id, hash],
  )
  return rowCount === 1
}

/** Replaces a hash with outdated parameters, unless the password was changed meanwhile. */
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
