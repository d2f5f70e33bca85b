/** What receiving needs of the program. */
import type { Db } from '../ground/db/db.ts'
import type { Log } from '../ground/db/log.ts'
import type { Outbox, Subscriptions } from '../events/events.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { Meter } from '../ground/metrics/meter.ts'
import type { Texts } from '../ground/sealing/texts.ts'
import type { Vault } from '../ground/sealing/vault.ts'
import type { Redeliveries } from './redelivery.ts'

export interface ReceiveContext {
  db: Db
  vault: Vault
  texts?: Texts
  log: Log
  ledger: Ledger
  outbox: Outbox
  subscriptions: Subscriptions
  meter?: Meter
  redeliveries: Redeliveries
  /** Whether this process was there all the time (see `Node.isFresh`). Left out: it was. */
  isFresh?: () => boolean
  wake: () => void
}
