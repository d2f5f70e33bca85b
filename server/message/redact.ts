/** Deletes the text of messages that are over, and of their events. The rest of a message stays. */
import type { Tx } from '../ground/db/db.ts'
import { changeEventsOf } from '../events/events-redact.ts'
import { isFinal, messageColumns, statuses, type MessageRow } from './message.ts'
import { hideText, warningsAboutText } from './show.ts'

const finals = statuses.filter(isFinal).map((status) => `'${status}'`)

/** Whether the text is no longer needed: the message is final, or unconfirmed and too old to be resent. */
export const isOver = (m: string): string =>
  `(${m}.status in (${finals.join(', ')}) or (${m}.status = 'unconfirmed' and ${m}.expires_at <= now()))`

export const hasText = (m: string): string => `(${m}.body is not null or ${m}.body_sealed is not null)`

/** Set clause that deletes the text of a message `m`. */
export const setsOfRedaction = `body = null,
        body_sealed = null,
        octets = null,
        warnings = (
          select jsonb_agg(w) from jsonb_array_elements(m.warnings) as w
          where w ->> 'code' not in (${warningsAboutText.map((code) => `'${code}'`).join(', ')})
        )`

/**
 * Deletes the text of a message and its events; returns its row, or null if it is not over yet (or not the account's). Repeatable. Locks the message;
 * by primary key.
 */
export async function redactMessage(tx: Tx, accountId: string, id: string): Promise<MessageRow | null> {
  const { rows } = await tx.query<MessageRow>({
    name: 'redact-message',
    text: `
      update messages m
      set ${setsOfRedaction}
      where m.account_id = $1
        and m.id = $2
        and ${isOver('m')}
      returning ${messageColumns('m')}`,
    values: [accountId, id],
  })
  if (rows[0]) await changeEventsOf(tx, accountId, [id], withoutTexts)
  return rows[0] ?? null
}

/** `data` of an event without the texts of its messages. */
export function withoutTexts(data: unknown): unknown {
  return mapObjects(data, (object) =>
    object['object'] === 'message' ? { ...hideText(object), redacted: true } : object,
  )
}

/** Maps every object in a JSON value with `change`, outer before inner. */
export function mapObjects(
  value: unknown,
  change: (object: Record<string, unknown>) => Record<string, unknown>,
): unknown {
  if (Array.isArray(value)) return value.map((one) => mapObjects(one, change))
  if (typeof value !== 'object' || value === null) return value
  const changed = Object.entries(change(value as Record<string, unknown>))
  return Object.fromEntries(changed.map(([name, one]) => [name, mapObjects(one, change)]))
}
