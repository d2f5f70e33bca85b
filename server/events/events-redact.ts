/** Removes data from recorded events: their payloads are copies, and outlive their originals. */
import type { Tx } from '../ground/db/db.ts'
import { idSql, spanOf, within } from '../ground/db/span.ts'
import { firstIdBehind } from '../ground/base/ids.ts'

export type Change = (data: unknown) => unknown

/**
 * Changes the payloads of all events about some messages. Returns the ids of these events, including those without a payload, which are
 * rendered from their message. Later postings have the change; one in flight may not. Index events_message; no event is older than its
 * message.
 */
export async function changeEventsOf(
  tx: Tx,
  accountId: string,
  messageIds: readonly string[],
  change: Change,
): Promise<string[]> {
  if (messageIds.length === 0) return []
  const { rows } = await tx.query<Recorded>({
    text: `
      select e.id, e.payload
      from unnest($2::uuid[]) as m (id)
      join events e on e.account_id = $1 and e.message_id = m.id and e.id >= ${idSql(firstIdBehind(spanOf(messageIds).first))}`,
    values: [accountId, messageIds],
  })
  await writePayloads(tx, accountId, rows, change)
  return rows.map(({ id }) => id)
}

/** Changes the payloads of a piece of the events without a message, in the order of their ids; `next` is null after the last. Index events_loose. */
export async function changeLooseEvents(
  tx: Tx,
  accountId: string,
  after: string,
  limit: number,
  change: Change,
): Promise<{ changed: string[]; next: string | null }> {
  const { rows } = await tx.query<Recorded>({
    text: `
      select id, payload
      from events
      where account_id = $1
        and message_id is null
        and id > ${idSql(after)}
      order by id
      limit $2`,
    values: [accountId, limit],
  })
  const changed = await writePayloads(tx, accountId, rows, change)
  return { changed, next: rows.length < limit ? null : (rows.at(-1)?.id ?? null) }
}

/** Deletes a piece of an account's events before an id, oldest first; returns their number. By primary key. */
export async function deleteEvents(
  tx: Tx,
  accountId: string,
  range: { after: string; before: string },
  limit: number,
): Promise<{ count: number; lastId: string | null }> {
  const [after, before] = [idSql(range.after), idSql(range.before)]
  const { rows } = await tx.query<{ count: number; lastId: string | null }>({
    text: `
      with piece as materialized (
        select id
        from events
        where account_id = $1
          and id > ${after}
          and id < ${before}
        order by id
        limit $2
      ), gone as (
        delete from events e
        using piece p
        where e.account_id = $1
          and e.id = p.id
          and e.id > ${after}
          and e.id < ${before}
      )
      select (select count(*)::int from piece) as count, (select id from piece order by id desc limit 1) as "lastId"`,
    values: [accountId, limit],
  })
  return rows[0] ?? { count: 0, lastId: null }
}

interface Recorded {
  id: string
  payload: string | null
}

async function writePayloads(
  tx: Tx,
  accountId: string,
  events: readonly Recorded[],
  change: Change,
): Promise<string[]> {
  const changed = events.flatMap(({ id, payload }) => {
    if (payload === null) return []
    const event = JSON.parse(payload) as { data: unknown }
    const after = JSON.stringify({ ...event, data: change(event.data) })
    return after === payload ? [] : [{ id, payload: after }]
  })
  const ids = changed.map(({ id }) => id)
  if (ids.length === 0) return ids
  await tx.query({
    text: `
      update events e
      set payload = c.payload
      from unnest($2::uuid[], $3::text[]) as c (id, payload)
      where e.account_id = $1
        and e.id = c.id
        and e.id ${within(spanOf(ids))}`,
    values: [accountId, ids, changed.map(({ payload }) => payload)],
  })
  return ids
}
