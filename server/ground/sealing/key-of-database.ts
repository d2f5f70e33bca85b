/** The master key that a database is used with, by ids in the database: any other key is refused. */
import type { Queryable } from '../db/db.ts'
import type { MasterKeys } from './master-key.ts'
import { hashingIdOf, idOfKey, keyIdsOf } from './vault.ts'

/** What the database knows of its key. */
export interface KeyOfDatabase {
  /** Ids of the keys that its secrets may be sealed with: all of them are needed, and new secrets are sealed with one of them. */
  sealing: string[]
  /** Id of the secret behind keyed hashes. */
  hashing: string
}

/** Null: no process has started on the database since it exists, or what its key sealed was given up. */
export async function readKeyOfDatabase(db: Queryable): Promise<KeyOfDatabase | null> {
  const { rows } = await db.query<KeyOfDatabase>('select sealing, hashing from master_key')
  return rows[0] ?? null
}

/**
 * Answers which key the database has, and makes this one its key where it has none. Before the first account and the first carrier nothing is
 * sealed, so another key may take its place.
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

/** Writes down which keys seal from now on; `rotate-key` does so before any process seals with a new one, and when nothing needs the old one. */
export async function recordSealing(db: Queryable, keys: readonly Buffer[]): Promise<void> {
  await db.query('update master_key set sealing = $1', [keys.map((key) => idOfKey(key).toString('hex'))])
}

/** Why a key file is not the one of a database; null: it is. `stage`: it is of the same key, from before or amid a rotation. */
export function findKeyFault(known: KeyOfDatabase, keys: MasterKeys): 'other' | 'stage' | null {
  const ours = keyIdsOf(keys)
  const isSame = hashingIdOf(keys) === known.hashing
  if (isSame && known.sealing.includes(ours[0] ?? '') && known.sealing.every((id) => ours.includes(id))) return null
  return isSame ? 'stage' : 'other'
}
