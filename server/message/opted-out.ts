import type { Queryable } from '../ground/db/db.ts'
import type { Vault } from '../ground/sealing/vault.ts'
import { hashForms } from './consent.ts'

export interface KnownOptOut {
  createdAt: Date
  source: string
  /** The reply that opted out. */
  messageId: string | null
}

/** The opted-out numbers among these, with the source. By the unique keys of opt_outs. */
export async function findOptOuts(
  db: Queryable,
  vault: Vault,
  accountId: string,
  numbers: readonly string[],
): Promise<Map<string, KnownOptOut>> {
  const hashes = numbers.map((number) => hashForms(vault, accountId, number))
  const { rows } = await db.query<KnownOptOut & { number: string }>({
    name: 'find-opt-outs',
    text: `
      select p.number, o.created_at as "createdAt", o.source, o.message_id as "messageId"
      from unnest($2::text[], $3::bytea[], $4::bytea[]) as p (number, hash, old_hash)
      cross join lateral (
        select created_at, source, message_id from opt_outs where account_id = $1 and number = p.number
        union all
        select created_at, source, message_id from opt_outs where account_id = $1 and number_hmac = p.hash
        union all
        select created_at, source, message_id from opt_outs where account_id = $1 and number_hmac = p.old_hash
        limit 1
      ) o`,
    values: [accountId, numbers, hashes.map(([current]) => current), hashes.map(([, old]) => old ?? null)],
  })
  return new Map(rows.map(({ number, ...optOut }) => [number, optOut]))
}

export async function isOptedOut(db: Queryable, vault: Vault, accountId: string, number: string): Promise<boolean> {
  return (await findOptOuts(db, vault, accountId, [number])).size === 1
}
