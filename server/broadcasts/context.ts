import type { Needs } from '../events/events.ts'
import type { Acceptor } from '../accept/accept.ts'

export type BroadcastsContext = Needs<'db' | 'vault' | 'refuseUrl' | 'shortUrl' | 'subscriptions'> & {
  acceptor: Pick<Acceptor, 'plan'>
  /** Reports that a broadcast may have work. */
  wakeBroadcasts: () => void
}
