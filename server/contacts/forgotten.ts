/** Opted-out people whose numbers the account has forgotten: only a keyed hash remains (decision 0020). */
import type { Queryable } from '../ground/db/db.ts'
import { hashForms } from '../message/consent.ts'
import type { Vault } from '../ground/sealing/vault.ts'
import type { ContactRow } from './store.ts'

/** Returns those of the numbers. Hashes nothing if the account has forgotten no number, which is the usual case. By opt_outs_forgotten. */
export async function findForgotten(
  db: Queryable,
  vault: Vault,
  accountId: string,
  numbers: readonly string[],
): Promise<Set<string>> {
  const { rowCount } = await db.query({
    name: 'has-forgotten',
    text: 'select 1 from opt_outs where account_id = $1 and number is null limit 1',
    values: [accountId],
  })
  if (rowCount === 0 || numbers.length === 0) return new Set()
  const hashed = numbers.flatMap((number) => hashForms(vault, accountId, number).map((hash) => ({ number, hash })))
  const { rows } = await db.query<{ at: number }>({
    name: 'find-forgotten',
    text: `
      select p.at
      from unnest($2::bytea[]) with ordinality as p (hash, at)
      join opt_outs o on o.account_id = $1 and o.number is null and o.number_hmac = p.hash`,
    values: [accountId, hashed.map(({ hash }) => hash)],
  })
  return new Set(rows.map(({ at }) => hashed[at - 1]?.number ?? ''))
}

/** Marks contacts with a forgotten number. The database cannot filter them, so if `isOptedOut` is false they are removed here. */
export async function markForgotten(
  db: Queryable,
  vault: Vault,
  accountId: string,
  rows: readonly ContactRow[],
  isOptedOut: boolean | null = null,
): Promise<ContactRow[]> {
  const open = rows.filter((row) => !row.isOptedOut).map((row) => row.phoneNumber)
  const forgotten = await findForgotten(db, vault, accountId, open)
  const marked = rows.map((row) => (forgotten.has(row.phoneNumber) ? { ...row, isOptedOut: true } : row))
  return isOptedOut === false ? marked.filter((row) => !row.isOptedOut) : marked
}
