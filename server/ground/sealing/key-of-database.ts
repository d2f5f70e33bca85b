/** The master key of a database, by ids in the database: any other key is refused. */
import type { Queryable } from '../db/db.ts'
import type { MasterKeys } from './master-key.ts'
import { hashingIdOf, idOfKey, keyIdsOf } from './vault.ts'

export interface KeyOfDatabase {
  /** Ids of the keys that may have sealed its secrets: all of them are needed, and new secrets use one of them. */
  sealing: string[]
  /** Id of the secret behind keyed hashes. */
  hashing: string
}

/** Null: no process has started on the database yet, or its sealed values were given up. */
export async function readKeyOfDatabase(db: Queryable): Promise<KeyOfDatabase | null> {
  const { rows } = await db.query<KeyOfDatabase>('select sealing, hashing from master_key')
  return rows[0] ?? null
}

/**
 * Returns the database's key, and makes this one its key if it has none. Before the first account and the first carrier nothing is sealed,
 * so another key may replace it.
 */
export async function claimDatabase(db: Queryable, keys: MasterKeys): Promise<KeyOfDatabase> {
  const [current] = keyIdsOf(keys)
  await db.query(
    `insert into master_key (sealing, hashing)
     values (array[$1]::text[] || $2, $3)
     on conflict (is_only) do update
     set sealing = excluded.sealing, hashing = excluded.hashing
     where not exists (select from accounts) and not exists (select from carriers)`,
    [current, keyIdsOf({ ...keys, next: null }).slice(1), hashingIdOf(keys)],
  )
  const known = await readKeyOfDatabase(db)
  if (!known) throw new Error('a row that was inserted is not there')
  return known
}

/** Records the sealing keys; `rotate-key` calls it before any process seals with a new one, and when the old one is no longer needed. */
export async function recordSealing(db: Queryable, keys: readonly Buffer[]): Promise<void> {
  await db.query('update master_key set sealing = $1', [keys.map((key) => idOfKey(key).toString('hex'))])
}

/** Why a key file does not fit a database; null: it does. `stage`: it has the same key, before or during a rotation. */
export function findKeyFault(known: KeyOfDatabase, keys: MasterKeys): 'other' | 'stage' | null {
  const ours = keyIdsOf(keys)
  const isSame = hashingIdOf(keys) === known.hashing
  if (isSame && known.sealing.includes(ours[0] ?? '') && known.sealing.every((id) => ours.includes(id))) return null
  return isSame ? 'stage' : 'other'
}
