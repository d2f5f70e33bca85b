/** The body of a stored event: stored with it, or rendered from the final message. */
import type { Queryable } from '../ground/db/db.ts'
import { renderEvent, type EventType } from '../events/events.ts'
import { showId } from '../ground/base/ids.ts'
import type { MessageRow, Status } from '../message/message.ts'
import { messageEventData } from '../message/show.ts'
import { readMessages } from '../message/store.ts'

export interface StoredEvent {
  accountId: string
  id: string
  type: EventType
  messageId: string | null
  sequence: number | null
  /** Null: rendered from its final message, which never changes, except for the previous status. */
  payload: string | null
  previousStatus: Status | null
  createdAt: Date
}

/** Select list for `StoredEvent`, of the table under the alias. */
export const eventColumns = (e: string): string => `
  ${e}.account_id as "accountId", ${e}.id, ${e}.type, ${e}.message_id as "messageId", ${e}.sequence, ${e}.payload,
  ${e}.previous_status as "previousStatus", ${e}.created_at as "createdAt"`

// In JSON, quotes within a text are escaped: only a member matches.
const lacksText = (payload: string): boolean =>
  payload.includes('"message":null') && !payload.includes('"redacted":true')

/** Adds the text to a payload that was stored without it (`hidesTexts`). */
function withText(payload: string, { id, body }: MessageRow): string {
  const event = JSON.parse(payload) as { data: { message?: { id?: unknown; message?: unknown } | null } }
  const shown = event.data.message
  if (shown?.id !== showId('msg', id) || shown.message !== null) return payload
  shown.message = body
  return JSON.stringify(event)
}

/** The bodies of events, in order; null if the message is gone. One query if messages have to be read, by primary key. */
export async function readPayloads(db: Queryable, events: readonly StoredEvent[]): Promise<(string | null)[]> {
  const keys = events.flatMap(({ accountId, messageId, payload }) =>
    (payload === null || lacksText(payload)) && messageId !== null ? [{ accountId, id: messageId }] : [],
  )
  const messages = keys.length > 0 ? await readMessages(db, keys) : null
  return events.map((event) => {
    const row = messages?.get(event.messageId ?? '')
    if (event.payload !== null) return row?.body != null ? withText(event.payload, row) : event.payload
    if (!row) return null
    const data = messageEventData(row, event.previousStatus ?? 'sent')
    return renderEvent(event.id, { type: event.type, sequence: row.sequence, data }, event.createdAt)
  })
}
