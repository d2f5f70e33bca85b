/** What the routes of broadcasts need of the program. */
import type { Db } from '../ground/db/db.ts'
import type { Subscriptions } from '../events/events.ts'
import type { Acceptor } from '../accept/accept.ts'
import type { Vault } from '../ground/sealing/vault.ts'

export interface BroadcastsContext {
  db: Db
  vault: Vault
  refuseUrl: (url: string) => string | null
  /** Address of short links without a slash at the end; none: they are off. */
  shortUrl?: string | null
  /** Says what a broadcast would cost. */
  acceptor: Pick<Acceptor, 'plan'>
  subscriptions: Pick<Subscriptions, 'wants'>
  /** There is a broadcast to be sent. */
  wakeBroadcasts: () => void
}
