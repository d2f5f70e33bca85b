import type { Recording } from '../events/events.ts'
import type { Log } from '../ground/db/log.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { Texts } from '../ground/sealing/texts.ts'
import type { Vault } from '../ground/sealing/vault.ts'
import type { Redeliveries } from './redelivery.ts'

export interface ReceiveContext extends Recording {
  vault: Vault
  texts?: Texts
  log: Log
  ledger: Ledger
  redeliveries: Redeliveries
  /** Whether this process ran without a gap (see `Node.isFresh`). Absent: it did. */
  isFresh?: () => boolean
  wake: () => void
}
