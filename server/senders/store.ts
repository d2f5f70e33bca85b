import type { Queryable, Tx } from '../ground/db/db.ts'
import type { PagePlace } from '../ground/http/page.ts'
import { listRows, type Value } from '../ground/http/search.ts'
import type { Sender } from './sender.ts'

export interface SenderRow extends Sender {
  accountId: string
  /** Segments a second; null: no limit but the carrier's. */
  pace: number | null
  createdAt: Date
}

/** Null: any. */
export interface SenderFilters {
  kind: string | null
  country: string | null
  carrierId: string | null
  number: string | null
  isDefault: boolean | null
}

const columns = `account_id as "accountId", id, carrier_id as "carrierId", number, kind, country, capabilities, pace::float8 as pace,
  is_default as "isDefault", created_at as "createdAt"`

/** A page in the order of `buildPage`. By primary key; filters are checked on its rows. */
export const pageSenders = (
  db: Queryable,
  accountId: string,
  { kind, country, carrierId, number, isDefault }: SenderFilters,
  ...place: PagePlace
): Promise<SenderRow[]> => {
  const asked = { kind, country, carrier_id: carrierId, number, is_default: isDefault }
  const found = (value: Value): string[] =>
    Object.entries(asked).flatMap(([name, one]) => (one === null ? [] : `t.${name} = ${value(one)}`))
  return listRows(db, { table: 'senders', columns, accountId, found }, ...place)
}

/** Which ids are senders of the account. By primary key. */
export async function ownedOf(
  db: Queryable,
  accountId: string,
  ids: readonly (string | null)[],
): Promise<ReadonlySet<string>> {
  const { rows } = await db.query<{ id: string }>(
    `select id from senders where account_id = $1 and id = any ($2::uuid[])`,
    [accountId, ids],
  )
  return new Set(rows.map(({ id }) => id))
}

/**
 * A sender of an account or, for the operator, of a subaccount; locked if its whole row will be written back. By primary key, once per
 * account.
 */
export async function findSender(
  db: Queryable,
  accountId: string,
  id: string,
  isOperator: boolean,
  lock: '' | 'for no key update' = '',
): Promise<SenderRow | null> {
  const { rows } = await db.query<SenderRow>(
    `select ${columns}
     from senders
     where account_id = any (array(select a.id from accounts a where a.id = $1 or ($3 and a.parent_id = $1)))
       and id = $2
     ${lock}`,
    [accountId, id, isOperator],
  )
  return rows[0] ?? null
}

/** By primary key prefix. */
export async function hasNoSender(db: Queryable, accountId: string): Promise<boolean> {
  const { rowCount } = await db.query('select 1 from senders where account_id = $1 limit 1', [accountId])
  return rowCount === 0
}

/** @throws a unique violation if the number is taken at the carrier, or another default exists (`dropDefault`). */
export async function createSender(tx: Tx, sender: Omit<SenderRow, 'createdAt'>): Promise<void> {
  await tx.query(
    `insert into senders (account_id, id, carrier_id, number, kind, country, capabilities, pace, is_default)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    [
      sender.accountId,
      sender.id,
      sender.carrierId,
      sender.number,
      sender.kind,
      sender.country,
      sender.capabilities,
      sender.pace,
      sender.isDefault,
    ],
  )
}

/** Updates a sender; a new default replaces the old one. By primary key; @throws as `createSender`. */
export async function changeSender(tx: Tx, sender: SenderRow): Promise<void> {
  if (sender.isDefault) await dropDefault(tx, sender.accountId)
  await tx.query(
    `update senders
     set carrier_id = $3, country = $4, capabilities = $5, pace = $6, is_default = $7
     where account_id = $1 and id = $2`,
    [sender.accountId, sender.id, sender.carrierId, sender.country, sender.capabilities, sender.pace, sender.isDefault],
  )
}

/** False if there is none. By primary key. */
export async function deleteSender(tx: Tx, accountId: string, id: string): Promise<boolean> {
  const { rowCount } = await tx.query(`delete from senders where account_id = $1 and id = $2`, [accountId, id])
  return rowCount === 1
}

/**
 * Makes the sender with this number, at its best carrier, the account's default, or removes the default (null); false if there is none with
 * it. By primary key prefix; locks the rows of the old and the new one.
 */
export async function setDefaultSender(tx: Tx, accountId: string, number: string | null): Promise<boolean> {
  await dropDefault(tx, accountId)
  if (number === null) return true
  const { rowCount } = await tx.query(
    `update senders
     set is_default = true
     where account_id = $1
       and id = (
         select s.id
         from senders s
         join carriers c on c.id = s.carrier_id
         where s.account_id = $1 and s.number = $2
         order by c.priority, s.id
         limit 1
       )`,
    [accountId, number.replace(/^\+(?=\d)/, '')],
  )
  return rowCount === 1
}

/** Removes the old default and locks its row. */
export async function dropDefault(tx: Tx, accountId: string): Promise<void> {
  await tx.query('update senders set is_default = false where account_id = $1 and is_default', [accountId])
}
