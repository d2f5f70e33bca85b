/** Events of broadcasts that requests cause. They are left for any process to post, because this code does not see the commit of the request. */
import type { Tx } from '../ground/db/db.ts'
import { recordEvents, type EventType, type Subscriptions } from '../events/events.ts'
import { showBroadcast, type BroadcastRow } from './broadcast.ts'

/** Records an event if the account subscribes to it. */
export async function recordBroadcast(
  tx: Tx,
  { subscriptions }: { subscriptions: Pick<Subscriptions, 'wants'> },
  type: EventType,
  row: BroadcastRow,
): Promise<void> {
  const { accountId } = row
  if (!subscriptions.wants(accountId, type)) return
  await recordEvents(tx, [{ accountId, type, data: { broadcast: showBroadcast(row) } }], {
    nodeId: null,
    offer: () => {},
  })
}
