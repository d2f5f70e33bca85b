import type { Db } from '../ground/db/db.ts'
import type { Vault } from '../ground/sealing/vault.ts'
import type { Authenticator } from './authenticate.ts'
import type { SettingsSources } from './change-settings.ts'

export interface AccountsContext {
  db: Db
  vault: Vault
  authenticator: Authenticator
  settings: SettingsSources
}
