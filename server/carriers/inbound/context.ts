/** What receiving needs of the program. */
import type { Db } from '../../db/db.ts'
import type { Log } from '../../db/log.ts'
import type { Outbox, Subscriptions } from '../../events.ts'
import type { Ledger } from '../../messages/ledger/ledger.ts'
import type { Meter } from '../../metrics/meter.ts'
import type { Texts } from '../../sealing/texts.ts'
import type { Vault } from '../../sealing/vault.ts'
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
