/** Which master key belongs to a backup: by the ids that tell nothing of it. */
import { existsSync } from 'node:fs'
import type { Config } from '../../config.ts'
import type { Queryable } from '../../db/db.ts'
import { isMasterKeyOf } from '../../sealing/data-keys.ts'
import { KeyFile } from '../../sealing/master-key.ts'
import { keyIdsOf, openVault } from '../../sealing/vault.ts'

/**
 * The ids of the keys that secrets of a database may be sealed with: those of the key file that is at hand, else those that its processes have
 * told. None: nobody knows.
 */
export async function readKeyIds(db: Queryable, { keyFile }: Config): Promise<string[]> {
  const own = readOwnKeys(keyFile)
  if (own && (await isMasterKeyOf(db, openVault(own)))) return sealingIds(own)
  const { rows } = await db.query<{ keys: string[] }>(
    `select master_keys as keys
     from heartbeats
     where master_keys <> '{}'
     order by seen_at desc
     limit 1`,
  )
  return rows[0]?.keys ?? []
}

/** The ids of those that open something: a next one seals nothing yet. */
const sealingIds = (file: KeyFile): string[] => keyIdsOf({ ...file.read(), next: null })

function readOwnKeys(path: string): KeyFile | null {
  // It would be made, and no secret has been sealed with it.
  if (!existsSync(path)) return null
  try {
    return new KeyFile(path)
  } catch {
    return null
  }
}

/** The ids that a backup needs and a key file has not; all of them where there is no file. @throws where it cannot be read. */
export function findMissingKeys(needed: readonly string[], { keyFile }: Config): string[] {
  if (!existsSync(keyFile)) return [...needed]
  const own = keyIdsOf(new KeyFile(keyFile).read())
  return needed.filter((id) => !own.includes(id))
}

/** Ids as people compare them. */
export const showKeys = (ids: readonly string[]): string =>
  ids.length === 0 ? 'of an id that was not known' : `with the id ${ids.join(' or ')}`
