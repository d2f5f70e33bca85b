/** Finds the master key of a backup by key ids, which reveal nothing. */
import { existsSync } from 'node:fs'
import type { Config } from '../../config.ts'
import { KeyFile } from '../../../ground/sealing/master-key.ts'
import { keyIdsOf } from '../../../ground/sealing/vault.ts'

/** The ids that a backup needs and the key file lacks; all if there is no file. @throws if it cannot be read. */
export function findMissingKeys(needed: readonly string[], { keyFile }: Config): string[] {
  if (!existsSync(keyFile)) return [...needed]
  const own = keyIdsOf(new KeyFile(keyFile).read())
  return needed.filter((id) => !own.includes(id))
}

export const showKeys = (ids: readonly string[]): string =>
  ids.length === 0 ? 'of an id that was not known' : `with the id ${ids.join(' or ')}`
