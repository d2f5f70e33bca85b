import type { Queryable, Tx } from '../ground/db/db.ts'
import { ApiError, found } from '../ground/base/errors.ts'
import type { Caller } from '../ground/http/http.ts'
import { showId } from '../ground/base/ids.ts'
import type { PagePlace } from '../ground/http/page.ts'
import { listRows } from '../ground/http/search.ts'
import { withdrawInvitationsOf } from './invitations.ts'
import { mayGrant, type Role } from './roles.ts'
import { endSessionsOf } from './login/session.ts'

export interface UserRow {
  id: string
  email: string
  role: Role
  status: 'active' | 'disabled'
  hasTotp: boolean
  isOperator: boolean
  createdAt: Date
  updatedAt: Date
}

const columns = `
  id,
  email,
  role,
  status,
  totp_since is not null as "hasTotp",
  is_operator as "isOperator",
  created_at as "createdAt",
  updated_at as "updatedAt"`

/** Returns one more than `limit`. Served by the primary key. */
export const listUsers = (db: Queryable, accountId: string, ...place: PagePlace): Promise<UserRow[]> =>
  listRows(db, { table: 'users', columns, accountId }, ...place)

/** By primary key. @throws ApiError `not_found`. */
export async function findUserRow(db: Queryable, accountId: string, id: string): Promise<UserRow> {
  const { rows } = await db.query<UserRow>(
    `
    select ${columns}
    from users
    where account_id = $1
      and id = $2`,
    [accountId, id],
  )
  return found(rows[0], 'There is no such user.')
}

/** The user's own view, with the hash that checks their password. */
export interface Self extends UserRow {
  accountId: string
  accountName: string
  passwordHash: string
  hasSecret: boolean
  recoveryCodesLeft: number
}

/** All by primary keys. @throws ApiError `not_found`. */
export async function findSelf(db: Queryable, accountId: string, id: string): Promise<Self> {
  const user = await findUserRow(db, accountId, id)
  const { rows } = await db.query<Omit<Self, keyof UserRow>>(
    `
    select
      u.account_id as "accountId",
      a.name as "accountName",
      u.password_hash as "passwordHash",
      u.totp_sealed is not null as "hasSecret",
      (select count(*)::int from recovery_codes r where r.account_id = $1 and r.user_id = $2) as "recoveryCodesLeft"
    from users u
    join accounts a on a.id = u.account_id
    where u.account_id = $1
      and u.id = $2`,
    [accountId, id],
  )
  if (!rows[0]) throw new ApiError('not_found')
  return { ...user, ...rows[0] }
}

/** Locks a user by primary key. False if the password was changed since the check, which takes a while. */
export async function lockPassword(tx: Tx, { accountId, id, passwordHash }: Self): Promise<boolean> {
  const { rowCount } = await tx.query(
    'select 1 from users where account_id = $1 and id = $2 and password_hash = $3 for update',
    [accountId, id, passwordHash],
  )
  return rowCount === 1
}

/** By primary key. */
export async function setPassword(tx: Tx, accountId: string, id: string, passwordHash: string): Promise<void> {
  await tx.query('update users set password_hash = $3, updated_at = now() where account_id = $1 and id = $2', [
    accountId,
    id,
    passwordHash,
  ])
}

/** The caller's role; null for a key. By primary key. */
export async function roleOfCaller(db: Queryable, { accountId, userId }: Caller): Promise<Role | null> {
  return userId === null ? null : (await findUserRow(db, accountId, userId)).role
}

/**
 * Changes a user's role or status, which logs the user out and withdraws their open invitations. Locks the account's owners, so that two
 * of them cannot remove each other at once. Returns the user before and after. @throws ApiError `not_found`, `role_not_allowed` or
 * `last_owner`.
 */
export async function changeUser(
  tx: Tx,
  caller: Caller,
  id: string,
  change: { role?: Role; status?: 'active' | 'disabled' },
): Promise<{ before: UserRow; after: UserRow }> {
  const { accountId } = caller
  const before = await requireAbove(tx, caller, id, change.role)
  const isOwner = (change.role ?? before.role) === 'owner' && (change.status ?? before.status) === 'active'
  if (!isOwner) await requireAnotherOwner(tx, accountId, id)
  await tx.query(
    `
    update users
    set role = coalesce($3, role), status = coalesce($4, status), updated_at = now()
    where account_id = $1
      and id = $2`,
    [accountId, id, change.role ?? null, change.status ?? null],
  )
  const after = await findUserRow(tx, accountId, id)
  if (after.role !== before.role || after.status !== before.status) await endActsOf(tx, accountId, id)
  return { before, after }
}

/** Logs the user out; keys that they created stay. @throws ApiError `not_found`, `role_not_allowed` or `last_owner`. */
export async function removeUser(tx: Tx, caller: Caller, id: string): Promise<UserRow> {
  const { accountId } = caller
  const before = await requireAbove(tx, caller, id)
  await requireAnotherOwner(tx, accountId, id)
  await endActsOf(tx, accountId, id)
  await tx.query('delete from users where account_id = $1 and id = $2', [accountId, id])
  return before
}

async function endActsOf(tx: Tx, accountId: string, id: string): Promise<void> {
  await endSessionsOf(tx, accountId, id)
  await withdrawInvitationsOf(tx, accountId, id)
}

/** Requires another user and a role, both with no more rights than the caller. */
async function requireAbove(tx: Tx, caller: Caller, id: string, role?: Role): Promise<UserRow> {
  await tx.query(`select 1 from users where account_id = $1 and role = 'owner' order by id for update`, [
    caller.accountId,
  ])
  const user = await findUserRow(tx, caller.accountId, id)
  const own = await roleOfCaller(tx, caller)
  if (user.id === caller.userId)
    throw new ApiError('role_not_allowed', { detail: 'You cannot change or remove yourself; ask another user.' })
  requireGrant(caller, own, user.role, user.isOperator)
  if (role !== undefined) requireGrant(caller, own, role)
  return user
}

/** @throws ApiError `role_not_allowed` if the role has more rights than the caller. */
export function requireGrant(caller: Caller, own: Role | null, role: Role, isOperator = false): void {
  if (!mayGrant(caller, own, role, isOperator))
    throw new ApiError('role_not_allowed', {
      detail: `The role ${role} may do more than you, or only owners can give it.`,
    })
}

/** The caller has locked the owners. Served by the primary key; an account has few users. */
async function requireAnotherOwner(tx: Tx, accountId: string, id: string): Promise<void> {
  const { rows } = await tx.query<{ isLast: boolean }>(
    `
    select bool_and(id = $2) as "isLast"
    from users
    where account_id = $1
      and role = 'owner'
      and status = 'active'`,
    [accountId, id],
  )
  if (rows[0]?.isLast) throw new ApiError('last_owner')
}

export const showUser = (row: UserRow) => ({
  id: showId('usr', row.id),
  object: 'user' as const,
  email: row.email,
  role: row.role,
  status: row.status,
  totp: row.hasTotp,
  created_at: row.createdAt.toISOString(),
  updated_at: row.updatedAt.toISOString(),
})
