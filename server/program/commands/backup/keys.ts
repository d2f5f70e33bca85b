/** Which master key belongs to a backup: by the ids that tell nothing of it. */
import { existsSync } from 'node:fs'
import type { Config } from '../../config.ts'
import { KeyFile } from '../../../ground/sealing/master-key.ts'
import { keyIdsOf } from '../../../ground/sealing/vault.ts'

/** The ids that a backup needs and a key file has not; all of them where there is no file. @throws where it cannot be read. */
export function findMissingKeys(needed: readonly string[], { keyFile }: Config): string[] {
  if (!existsSync(keyFile)) return [...needed]
  const own = keyIdsOf(new KeyFile(keyFile).read())
  return needed.filter((id) => !own.includes(id))
}

/** Ids as people compare them. */
export const showKeys = (ids: readonly string[]): string =>
  ids.length === 0 ? 'of an id that was not known' : `with the id ${ids.join(' or ')}`
