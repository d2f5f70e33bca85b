import type { Db } from '../ground/db/db.ts'
import type { Subscriptions } from '../events/events.ts'
import type { Acceptor } from '../accept/accept.ts'
import type { Vault } from '../ground/sealing/vault.ts'

export interface BroadcastsContext {
  db: Db
  vault: Vault
  refuseUrl: (url: string) => string | null
  /** Address of short links without a trailing slash; none if they are off. */
  shortUrl?: string | null
  acceptor: Pick<Acceptor, 'plan'>
  subscriptions: Pick<Subscriptions, 'wants'>
  /** Reports that a broadcast may have work. */
  wakeBroadcasts: () => void
}
