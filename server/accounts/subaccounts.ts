/** Accounts and the accounts below them: one level deep. */
import type { Queryable, Tx } from '../ground/db/db.ts'
import { ApiError, found } from '../ground/base/errors.ts'
import { newId, showId } from '../ground/base/ids.ts'
import { wayOf, type Position } from '../ground/http/page.ts'

export interface AccountRow {
  id: string
  name: string
  status: 'active' | 'suspended' | 'closed'
  parentId: string | null
  pace: number | null
  apiPerSecond: number | null
  createdAt: Date
  updatedAt: Date
  closedAt: Date | null
  destroyAt: Date | null
  destroyedAt: Date | null
}

/** Undefined fields stay. */
export interface AccountChange {
  name?: string
  status?: 'active' | 'suspended'
  pace?: number | null
  api_per_second?: number | null
}

const columns = `
  id,
  name,
  status,
  parent_id as "parentId",
  pace::float8 as pace,
  api_per_second::float8 as "apiPerSecond",
  created_at as "createdAt",
  updated_at as "updatedAt",
  closed_at as "closedAt",
  destroy_at as "destroyAt",
  destroyed_at as "destroyedAt"`

/** The account itself or one below it, by primary key. @throws ApiError `not_found`. */
export async function findAccount(db: Queryable, ownId: string, id: string): Promise<AccountRow> {
  const { rows } = await db.query<AccountRow>({
    name: 'find-account',
    text: `
      select ${columns}
      from accounts
      where id = $2
        and (id = $1 or parent_id = $1)`,
    values: [ownId, id],
  })
  return found(rows[0], 'There is no such account.')
}

/** By primary key, without a check of ownership: that is up to the caller. @throws ApiError `not_found`. */
export async function findAccountRow(db: Queryable, id: string): Promise<AccountRow> {
  const { rows } = await db.query<AccountRow>(`select ${columns} from accounts where id = $1`, [id])
  return found(rows[0], 'There is no such account.')
}

/** Returns one more than `limit`. By accounts_parent. */
export async function listAccounts(
  db: Queryable,
  ownId: string,
  limit: number,
  position: Position | null,
): Promise<AccountRow[]> {
  const { beyond, order } = wayOf(position)
  const { rows } = await db.query<AccountRow>(
    `
    select ${columns}
    from accounts
    where parent_id = $1
      and ($2::uuid is null or id ${beyond} $2)
    order by id ${order}
    limit $3`,
    [ownId, position?.id ?? null, limit + 1],
  )
  return rows
}

/** @throws ApiError `sub_account_not_allowed` if the parent is itself below another. */
export async function createAccount(
  tx: Tx,
  ownId: string,
  { name, pace = null, api_per_second = null }: AccountChange & { name: string },
): Promise<AccountRow> {
  const own = await findAccount(tx, ownId, ownId)
  if (own.parentId !== null) throw new ApiError('sub_account_not_allowed')
  const id = newId()
  await tx.query(
    `
    insert into accounts (id, name, parent_id, pace, api_per_second)
    values ($1, $2, $3, $4, $5)`,
    [id, name, ownId, pace, api_per_second],
  )
  return findAccount(tx, ownId, id)
}

/** Changes an account or one below it; locks its row by primary key. Returns it before and after. */
export async function changeAccount(
  tx: Tx,
  ownId: string,
  id: string,
  { name, status, pace, api_per_second }: AccountChange,
): Promise<{ before: AccountRow; after: AccountRow }> {
  await tx.query('select 1 from accounts where id = $1 for update', [id])
  const before = await findAccount(tx, ownId, id)
  if (before.status === 'closed')
    throw new ApiError('account_not_in_state', { detail: 'The account is closed; reopen it first.' })
  // Every process re-reads the paces after a while (see links/limits.ts).
  await tx.query(
    `
    update accounts
    set
      name = coalesce($2, name),
      status = coalesce($3, status),
      pace = case when $4 then $5 else pace end,
      api_per_second = case when $6 then $7 else api_per_second end,
      updated_at = now()
    where id = $1`,
    [
      id,
      name ?? null,
      status ?? null,
      pace !== undefined,
      pace ?? null,
      api_per_second !== undefined,
      api_per_second ?? null,
    ],
  )
  return { before, after: await findAccount(tx, ownId, id) }
}

export const showAccount = (row: AccountRow) => ({
  id: showId('acc', row.id),
  object: 'account' as const,
  name: row.name,
  status: row.status,
  parent: row.parentId && showId('acc', row.parentId),
  pace: row.pace,
  api_per_second: row.apiPerSecond,
  created_at: row.createdAt.toISOString(),
  updated_at: row.updatedAt.toISOString(),
  closed_at: row.closedAt && row.closedAt.toISOString(),
  destroy_at: row.destroyAt && row.destroyAt.toISOString(),
  destroyed_at: row.destroyedAt && row.destroyedAt.toISOString(),
})
