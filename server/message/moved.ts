/** Messages that moved to another state, and the events about it. */
import { nowMs } from '../ground/db/clock.ts'
import { afterCommit, type Tx } from '../ground/db/db.ts'
import { recordEvents, type NewEvent, type Outbox, type Posting, type Subscriptions } from '../events/events.ts'
import type { Meter } from '../ground/metrics/meter.ts'
import { isFinal, type MessageRow, type Status } from './message.ts'
import { messageEventData } from './show.ts'

export interface Moved {
  row: MessageRow
  from: Status
}

/** Records the events of moved messages, in the transaction of the move. Offer the postings after the commit. */
export function recordMoves(
  tx: Tx,
  moved: Moved[],
  {
    outbox,
    subscriptions,
    meter,
  }: {
    outbox: Outbox
    subscriptions: Pick<Subscriptions, 'wants'>
    meter?: Meter
  },
): Promise<Posting[]> {
  if (meter && moved.length > 0)
    afterCommit(tx, () => {
      const now = nowMs()
      for (const { row } of moved) meter.noteEnd(row, row.status, now)
    })
  const events = moved.flatMap(({ row, from }): NewEvent[] => {
    const type = eventTypeOf(row.status)
    if (!type || !subscriptions.wants(row.accountId, type)) return []
    const { accountId, id: messageId, sequence, callbackUrl } = row
    const event = { accountId, type, messageId, sequence, data: messageEventData(row, from), callbackUrl }
    // A final message does not change: the event is built from its row again.
    return [isFinal(row.status) ? { ...event, previousStatus: from } : event]
  })
  return recordEvents(tx, events, outbox)
}

function eventTypeOf(status: Status): NewEvent['type'] | null {
  switch (status) {
    case 'delivered':
      return 'message.delivered'
    case 'undelivered':
    case 'rejected':
    case 'failed':
    case 'expired':
      return 'message.failed'
    case 'sent':
      return 'message.sent'
    case 'canceled':
      return 'message.canceled'
    case 'unconfirmed':
      return 'message.unconfirmed'
    case 'scheduled':
    case 'queued':
    case 'sending':
    case 'received':
      return null
    default:
      return status satisfies never
  }
}
