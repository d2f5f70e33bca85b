/** Reads forward in the event log, for waiting requests and streams. */
import type { Db } from '../ground/db/db.ts'
import { invalid, type FieldError } from '../ground/base/errors.ts'
import { eventTypes } from '../events/events.ts'
import { parseId } from '../ground/base/ids.ts'
import { readBeside } from '../ground/http/faults.ts'
import { findPlace, isBehind, readForward, type EventFilter, type EventRow, type Place } from './events-store.ts'
import type { Watcher } from './watch.ts'

/** Continues at each call from where the last one stopped. */
export interface Reader {
  /** Up to `limit` events, oldest first; fewer if there are no more now. */
  read(limit: number): Promise<EventRow[]>
  /** All matching events up to here were read; null: none yet. */
  readonly place: Place | null
}

/** A reader from after a place, or from the oldest event (null). Its place advances even if no event matches. */
export function createReader(
  db: Db,
  accountId: string,
  filter: EventFilter,
  from: Place | null,
  watcher: Watcher,
): Reader {
  let place = from
  return {
    get place() {
      return place
    },
    async read(limit) {
      const { newest } = watcher
      const rows = await readForward(db, accountId, filter, limit, place)
      const last = rows.at(-1)
      if (last) place = { id: last.id, txid: last.txid }
      if (rows.length < limit && newest && (place === null || isBehind(newest, place))) place = newest
      return rows
    },
  }
}

/**
 * Reads a query's filter and the place of its `after` event (`start`: null, the oldest).
 * @throws ApiError `validation_failed` with the faults of both, and `wrong`.
 */
export async function readAfter(
  db: Db,
  accountId: string,
  after: string,
  pointer: string,
  query: FilterQuery,
  wrong: readonly FieldError[] = [],
): Promise<{ filter: EventFilter; place: Place | null }> {
  const id = parseId('evt', after)
  const place = id === null ? null : await findPlace(db, accountId, id)
  const faults = [...wrong]
  if (!place && after !== 'start')
    faults.push({
      pointer,
      code: 'invalid_value',
      detail: 'is not an event of the last 30 days; `start` reads from the oldest',
    })
  return readBeside(faults, () => ({ filter: readFilter(query), place }))
}

interface FilterQuery {
  type?: string
  message?: string
  delivery_success?: boolean
}

/** @throws ApiError `validation_failed`. */
export function readFilter(query: FilterQuery): EventFilter {
  const errors: FieldError[] = []
  const types = query.type?.split(',').map((type) => type.trim()) ?? null
  const unknown = types?.filter((type) => !Object.hasOwn(eventTypes, type)) ?? []
  if (unknown.length > 0) {
    const known = Object.keys(eventTypes).join(', ')
    errors.push({ pointer: '?type', code: 'invalid_value', detail: `${unknown.join(', ')}: not one of ${known}.` })
  }
  const messageId = query.message === undefined ? null : parseId('msg', query.message)
  if (query.message !== undefined && !messageId)
    errors.push({ pointer: '?message', code: 'invalid_format', detail: 'is not the id of a message' })
  if (errors.length > 0) throw invalid(errors)
  return { types, messageId, isDelivered: query.delivery_success ?? null }
}
