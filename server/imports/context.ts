import type { Db } from '../ground/db/db.ts'
import type { Vault } from '../ground/sealing/vault.ts'
import type { RunContext } from './run.ts'
import type { Imports } from './start.ts'

export interface ImportsContext extends Pick<RunContext, 'outbox' | 'subscriptions'> {
  db: Db
  vault: Vault
  imports: Imports
}
