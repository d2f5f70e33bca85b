/**
 * Token pairs of logins. Every login is a family; each refresh makes its next generation. Both tokens are derived from the master key, the
 * family and the generation, so that a client whose answer was lost gets the same pair again although only hashes are stored.
 *
 *   fresh --refresh--> replaced --again within 60 s--> the same pair again
 *                         └------again later---------> somebody has a copy: the family is revoked
 */
import { inTransaction, type Db, type Tx } from '../../ground/db/db.ts'
import { newId } from '../../ground/base/ids.ts'
import type { Vault } from '../../ground/sealing/vault.ts'
import { denied } from '../authenticate.ts'
import { findOwner, holdOwner, type Owner } from '../store.ts'
import { hashToken, readToken, tokenOf } from '../token.ts'

const accessSeconds = 3600
const refreshSeconds = 30 * 86_400
const graceSeconds = 60

export interface TokenPair {
  accessToken: string
  refreshToken: string
  expiresIn: number
  refreshExpiresIn: number
  owner: Owner
}

export async function openSession(tx: Tx, vault: Vault, owner: Owner): Promise<TokenPair> {
  return addGeneration(tx, vault, owner, newId(), 0)
}

interface RefreshRow {
  accountId: string
  userId: string
  family: string
  generation: number
  createdAt: Date
  isRevoked: boolean
  isExpired: boolean
  replacedSecondsAgo: number | null
}

/** @throws ApiError `invalid_token` or `expired_token`. */
export async function refreshSession(db: Db, vault: Vault, refreshToken: string): Promise<TokenPair> {
  if (readToken(refreshToken)?.kind !== 'refresh') throw denied('invalid_token', 'This is not a refresh token.')
  // A refusal is returned, not thrown: the revocation must be committed with it.
  const result = await inTransaction(db, async (tx) => {
    const hash = hashToken(refreshToken)
    const holder = await findHolder(tx, hash)
    // Locked before the token, in the same order as changes of a user or key that end its logins.
    if (holder) await holdOwner(tx, holder.accountId, holder.userId)
    const row = holder && (await lockRefreshToken(tx, hash))
    if (!row) return denied('invalid_token', 'There is no such refresh token.')
    if (row.isRevoked) return denied('invalid_token', 'The refresh token was revoked.')
    if (row.isExpired) return denied('expired_token', 'The refresh token has expired.')
    if (row.replacedSecondsAgo !== null && row.replacedSecondsAgo > graceSeconds) {
      await revokeFamily(tx, row.family)
      return denied('invalid_token', 'The refresh token was already used. Its login was ended, in case it was stolen.')
    }
    const owner = await findOwner(tx, row.accountId, row.userId, row.createdAt)
    if (!owner) return denied('invalid_token', 'The user or key of this login is no longer active.')
    if (row.replacedSecondsAgo === null) await addGeneration(tx, vault, owner, row.family, row.generation + 1)
    return showGeneration(tx, vault, owner, row.family, row.generation + 1)
  })
  if (result instanceof Error) throw result
  return result
}

/** Ends the login of an access or refresh token; false if there is none. */
export async function closeSession(db: Db, token: string): Promise<boolean> {
  return inTransaction(db, async (tx) => {
    const family = await findFamily(tx, token)
    if (family !== null) await revokeFamily(tx, family)
    return family !== null
  })
}

/** Confirms the person's identity, also for refreshed tokens; returns the time. @throws ApiError `invalid_token` if the login has ended. */
export async function confirmSession(tx: Tx, accessToken: string): Promise<Date> {
  const family = await findFamily(tx, accessToken)
  if (family !== null) await lockFamily(tx, family)
  const { rows } = await tx.query<{ confirmedAt: Date }>({
    name: 'confirm-family',
    text: `
      update tokens
      set confirmed_at = now()
      where family = $1
        and revoked_at is null
      returning confirmed_at as "confirmedAt"`,
    values: [family],
  })
  if (!rows[0]) throw denied('invalid_token', 'The token was revoked.')
  return rows[0].confirmedAt
}

const derive = (vault: Vault, kind: 'access' | 'refresh', family: string, generation: number): string =>
  tokenOf(kind, vault.mac(`token ${kind}`, `${family} ${generation}`))

/** Inserts both tokens and marks the previous refresh token as replaced. */
async function addGeneration(
  tx: Tx,
  vault: Vault,
  owner: Owner,
  family: string,
  generation: number,
): Promise<TokenPair> {
  const accessToken = derive(vault, 'access', family, generation)
  const refreshToken = derive(vault, 'refresh', family, generation)
  await tx.query({
    name: 'add-tokens',
    text: `
      with replaced as (
        update tokens
        set replaced_at = now()
        where family = $5
          and generation = $6::int - 1
          and kind = 'refresh'
        returning confirmed_at
      )
      insert into tokens (hash, kind, account_id, user_id, family, generation, scopes, expires_at, confirmed_at)
      select t.hash, t.kind, $3, $4, $5, $6, $7, now() + make_interval(secs => t.seconds), coalesce(r.confirmed_at, now())
      from (values ($1::bytea, 'access', $8::float8), ($2::bytea, 'refresh', $9::float8)) as t (hash, kind, seconds)
      left join replaced r on true`,
    values: [
      hashToken(accessToken),
      hashToken(refreshToken),
      owner.accountId,
      owner.id,
      family,
      generation,
      owner.scopes,
      accessSeconds,
      refreshSeconds,
    ],
  })
  return { accessToken, refreshToken, expiresIn: accessSeconds, refreshExpiresIn: refreshSeconds, owner }
}

async function showGeneration(
  tx: Tx,
  vault: Vault,
  owner: Owner,
  family: string,
  generation: number,
): Promise<TokenPair> {
  const { rows } = await tx.query<{ kind: string; seconds: number }>({
    name: 'token-times',
    text: `
      select kind, greatest(0, floor(extract(epoch from expires_at - now())))::float8 as seconds
      from tokens
      where family = $1
        and generation = $2`,
    values: [family, generation],
  })
  const secondsOf = (kind: string): number => rows.find((row) => row.kind === kind)?.seconds ?? 0
  return {
    accessToken: derive(vault, 'access', family, generation),
    refreshToken: derive(vault, 'refresh', family, generation),
    expiresIn: secondsOf('access'),
    refreshExpiresIn: secondsOf('refresh'),
    owner,
  }
}

/** The owner of a refresh token, by primary key. */
async function findHolder(tx: Tx, hash: Buffer): Promise<{ accountId: string; userId: string } | undefined> {
  const { rows } = await tx.query<{ accountId: string; userId: string }>({
    name: 'find-token-holder',
    text: `
      select account_id as "accountId", user_id as "userId"
      from tokens
      where hash = $1
        and kind = 'refresh'`,
    values: [hash],
  })
  return rows[0]
}

/** Of two refreshes at once, the second sees the first. Primary key. */
async function lockRefreshToken(tx: Tx, hash: Buffer): Promise<RefreshRow | undefined> {
  const { rows } = await tx.query<RefreshRow>({
    name: 'lock-refresh-token',
    text: `
      select
        account_id as "accountId",
        user_id as "userId",
        family,
        generation,
        created_at as "createdAt",
        revoked_at is not null as "isRevoked",
        expires_at <= now() as "isExpired",
        extract(epoch from clock_timestamp() - replaced_at)::float8 as "replacedSecondsAgo"
      from tokens
      where hash = $1
        and kind = 'refresh'
      for update`,
    values: [hash],
  })
  return rows[0]
}

/** By primary key; null if there is no such token. */
async function findFamily(tx: Tx, token: string): Promise<string | null> {
  const { rows } = await tx.query<{ family: string }>({
    name: 'find-family',
    text: 'select family from tokens where hash = $1',
    values: [hashToken(token)],
  })
  return rows[0]?.family ?? null
}

/** Waits for a refresh in flight, so that later statements see its tokens (index tokens_family). */
async function lockFamily(tx: Tx, family: string): Promise<void> {
  await tx.query({
    name: 'lock-family',
    text: `select 1 from tokens where family = $1 and kind = 'refresh' order by generation for update`,
    values: [family],
  })
}

/** Index tokens_family. Includes the tokens of a refresh in flight. */
async function revokeFamily(tx: Tx, family: string): Promise<void> {
  await lockFamily(tx, family)
  await tx.query({
    name: 'revoke-family',
    text: `
      update tokens
      set revoked_at = now()
      where family = $1
        and revoked_at is null`,
    values: [family],
  })
}

/**
 * Ends all logins of a user or key (index tokens_user), except the one whose access token hashes to `exceptHash`. Cached callers keep
 * access for up to five seconds, except at an authenticator that was told to forget.
 */
export async function endSessionsOf(
  tx: Tx,
  accountId: string,
  userId: string,
  exceptHash: Buffer | null = null,
): Promise<void> {
  await tx.query(
    `
    update tokens
    set revoked_at = now()
    where account_id = $1
      and user_id = $2
      and revoked_at is null
      and family is distinct from (select family from tokens where hash = $3 and account_id = $1)`,
    [accountId, userId, exceptHash],
  )
}
