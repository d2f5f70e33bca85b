/** Invitations: a code, shown once to the inviter, that makes its holder a user. No mail is sent. */
import { randomBytes } from 'node:crypto'
import { inTransaction, type Db, type Queryable, type Tx } from '../ground/db/db.ts'
import { codeOf } from '../ground/db/failure.ts'
import { ApiError, invalid } from '../ground/base/errors.ts'
import { newId, showId } from '../ground/base/ids.ts'
import type { PagePlace } from '../ground/http/page.ts'
import { listRows } from '../ground/http/search.ts'
import type { Vault } from '../ground/sealing/vault.ts'
import { exampleEmail } from './example-email.ts'
import { hashPassword, noPassword, saltOf } from './login/password.ts'
import { requirePassword } from './login/password-rules.ts'
import type { Role } from './roles.ts'
import { openSession, type TokenPair } from './login/session.ts'
import { findOwner } from './store.ts'
import { hashToken, readToken, tokenOf } from './token.ts'

/** Without the code, which is not stored. */
export interface InvitationRow {
  id: string
  email: string
  role: Role
  createdAt: Date
  expiresAt: Date
}

const lifetimeDays = 7

const columns = `
  id,
  email,
  role,
  created_at as "createdAt",
  expires_at as "expiresAt"`

const isOpen = (i = 'invitations'): string =>
  `${i}.accepted_at is null and ${i}.revoked_at is null and ${i}.expires_at > now()`

/** Replaces an open one of the same address. `invitedBy` null: the parent account. @throws ApiError `user_exists`, only for this account's users. */
export async function createInvitation(
  tx: Tx,
  accountId: string,
  { email, role, invitedBy }: { email: string; role: Role; invitedBy: string | null },
): Promise<{ row: InvitationRow; code: string }> {
  const { rowCount } = await tx.query(
    `
    select 1
    from users
    where account_id = $1
      and lower(email) = lower($2)`,
    [accountId, email],
  )
  if (rowCount) throw new ApiError('user_exists')
  // By invitations_open.
  await tx.query(
    `
    update invitations
    set revoked_at = now()
    where account_id = $1
      and lower(email) = lower($2)
      and accepted_at is null
      and revoked_at is null`,
    [accountId, email],
  )
  const code = tokenOf('invitation', randomBytes(32))
  const { rows } = await tx.query<InvitationRow>(
    `
    insert into invitations (account_id, id, email, role, code_hash, invited_by, expires_at)
    values ($1, $2, $3, $4, $5, $6, now() + make_interval(days => $7))
    returning ${columns}`,
    [accountId, newId(), email, role, hashToken(code), invitedBy, lifetimeDays],
  )
  const row = rows[0]
  if (!row) throw new Error('an insert returned no row')
  return { row, code }
}

/** Returns one more than `limit`. Served by the primary key. */
export const listInvitations = (db: Queryable, accountId: string, ...place: PagePlace): Promise<InvitationRow[]> =>
  listRows(db, { table: 'invitations', columns, accountId, found: () => ['user_id is null', isOpen('t')] }, ...place)

/** Null if it is not open; by primary key. */
export async function withdrawInvitation(tx: Tx, accountId: string, id: string): Promise<InvitationRow | null> {
  const { rows } = await tx.query<InvitationRow>(
    `
    update invitations
    set revoked_at = now()
    where account_id = $1
      and id = $2
      and user_id is null
      and ${isOpen()}
    returning ${columns}`,
    [accountId, id],
  )
  return rows[0] ?? null
}

/** Withdraws the invitations of an inviter who has lost the right. By the primary key: an account has few. */
export async function withdrawInvitationsOf(tx: Tx, accountId: string, invitedBy: string): Promise<void> {
  await tx.query(
    `
    update invitations
    set revoked_at = now()
    where account_id = $1
      and invited_by = $2
      and ${isOpen()}`,
    [accountId, invitedBy],
  )
}

export interface Accepted {
  accountId: string
  userId: string
  email: string
  role: Role
  /** The first owner, who existed without a password. */
  isFirst: boolean
  pair: TokenPair
}

/**
 * Creates a user from a code and logs them in; `record` runs in the same transaction. Of two requests with one code the first wins. Only
 * the first owner's code takes an `email`: other invitations name their address. Users of other accounts with that address have no effect:
 * the inviter has the code too, and must not learn of them. @throws ApiError `invalid_invitation`, `user_exists`, `validation_failed`,
 * `account_suspended` or `unavailable`.
 */
export async function acceptInvitation(
  db: Db,
  vault: Vault,
  { code, password, email: chosen }: { code: string; password: string; email?: string },
  record: (tx: Tx, accepted: Accepted) => Promise<unknown>,
): Promise<TokenPair> {
  // A mistyped code costs no look-up.
  if (readToken(code)?.kind !== 'invitation') throw new ApiError('invalid_invitation')
  const hash = hashToken(code)
  // By the unique index on code_hash.
  const { rows } = await db.query<{ email: string; accountName: string; status: string; isFirst: boolean }>(
    `
    select i.email, a.name as "accountName", a.status, i.user_id is not null as "isFirst"
    from invitations i
    join accounts a on a.id = i.account_id
    where i.code_hash = $1
      and ${isOpen('i')}`,
    [hash],
  )
  const [found] = rows
  if (!found) throw new ApiError('invalid_invitation')
  if (found.status !== 'active') throw new ApiError('account_suspended')
  if (chosen !== undefined && !found.isFirst)
    throw invalid([{ pointer: '#/email', code: 'invalid_value', detail: 'is set by the invitation; leave it out' }])
  if (chosen === undefined && found.isFirst && found.email === exampleEmail)
    throw invalid([{ pointer: '#/email', code: 'required', detail: 'is required: you log in with this address' }])
  requirePassword(password, { ...found, email: chosen ?? found.email })
  const passwordHash = await hashPassword(password, saltOf(vault, chosen ?? found.email))
  return inTransaction(db, async (tx) => {
    const { rows } = await tx.query<Taken>(
      `
      update invitations
      set accepted_at = now()
      where code_hash = $1
        and ${isOpen()}
      returning account_id as "accountId", email, role, user_id as "ownerId"`,
      [hash],
    )
    const [taken] = rows
    if (!taken) throw new ApiError('invalid_invitation')
    const { accountId, role } = taken
    const email = chosen ?? taken.email
    const userId = await writeUser(tx, { ...taken, email }, passwordHash)
    const owner = await findOwner(tx, accountId, userId)
    if (!owner) throw new ApiError('account_suspended')
    const pair = await openSession(tx, vault, owner)
    await record(tx, { accountId, userId, email, role, isFirst: taken.ownerId !== null, pair })
    return pair
  })
}

interface Taken {
  accountId: string
  email: string
  role: Role
  ownerId: string | null
}

/** Creates the user, or gives the first owner an address and a password (primary key). @throws ApiError `user_exists` or `invalid_invitation`. */
async function writeUser(tx: Tx, { accountId, email, role, ownerId }: Taken, passwordHash: string): Promise<string> {
  const userId = ownerId ?? newId()
  try {
    const { rowCount } =
      ownerId === null
        ? await tx.query(
            `
            insert into users (account_id, id, email, password_hash, role)
            values ($1, $2, $3, $4, $5)`,
            [accountId, userId, email, passwordHash, role],
          )
        : await tx.query(
            `
            update users
            set email = $3, password_hash = $4, updated_at = now()
            where account_id = $1
              and id = $2
              and password_hash = $5`,
            [accountId, userId, email, passwordHash, noPassword],
          )
    if (rowCount !== 1) throw new ApiError('invalid_invitation')
    return userId
  } catch (error) {
    if (codeOf(error) === '23505') throw new ApiError('user_exists')
    throw error
  }
}

export const showInvitation = (row: InvitationRow) => ({
  id: showId('inv', row.id),
  object: 'invitation' as const,
  email: row.email,
  role: row.role,
  created_at: row.createdAt.toISOString(),
  expires_at: row.expiresAt.toISOString(),
})
