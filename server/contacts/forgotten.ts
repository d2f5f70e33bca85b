/** People whose numbers the account has forgotten and who are out all the same: they are known by a keyed hash only (decision 0020). */
import type { Queryable } from '../ground/db/db.ts'
import { hashForms } from '../message/consent.ts'
import type { Vault } from '../ground/sealing/vault.ts'
import type { ContactRow } from './store.ts'

/** Which of the numbers are such; where the account has forgotten nobody, which is the rule, nothing is hashed. By opt_outs_forgotten. */
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

/**
 * The same contacts, with those marked whose number is forgotten. The database knows nothing of these: where `isOptedOut` asks for those who
 * are not out, they are left out here.
 */
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
