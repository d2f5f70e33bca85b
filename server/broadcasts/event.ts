/** Events about broadcasts that come with a request: whoever looks first posts them, as the end of the request's transaction is not known here. */
import type { Tx } from '../ground/db/db.ts'
import { recordEvents, type EventType, type Subscriptions } from '../events/events.ts'
import { showBroadcast, type BroadcastRow } from './broadcast.ts'

/** Records an event where somebody wants it. */
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
