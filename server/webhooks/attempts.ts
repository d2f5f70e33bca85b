/** The delivery log: one attempt for each POST of an event. */
import { Type, type Static } from 'typebox'
import type { Queryable } from '../ground/db/db.ts'
import { idSql, readNearest, spanOf, within } from '../ground/db/span.ts'
import { IdOf, Nullable, showTime, Timestamp } from '../ground/http/http.ts'
import { firstIdBehind, showId } from '../ground/base/ids.ts'
import { wayOf, type Position } from '../ground/http/page.ts'
import { attemptsIn, hasLater, rowIdOf } from '../post/attempt-rows.ts'
import type { PostResult } from '../post/exchange.ts'
import { maskHeaders } from '../post/headers.ts'
import { wantsTwilioForm } from '../post/twilio-form.ts'

export const Attempt = Type.Object(
  {
    id: IdOf('att', 'The attempt.'),
    object: Type.Literal('attempt'),
    webhook: Nullable(IdOf('whk', 'The webhook; null: a callback address.')),
    event: IdOf('evt', 'The event.'),
    event_type: Nullable(Type.String()),
    message: Nullable(IdOf('msg', 'The message of the event.')),
    try: Type.Integer({
      description: 'Number of the attempt of this event at this endpoint, from 1; a redelivery starts again at 1.',
    }),
    outcome: Type.String({
      description:
        '`ok`, or the reason: `status` (not 2xx), `redirect`, `gone` (410), `timeout`, `refused`, `reset`, `dns`, `tls`, `private_address`, `not_allowed` (plain http or port), `too_large` (headers over 16 KiB), `protocol` (not HTTP).',
    }),
    request: Type.Object(
      {
        url: Nullable(Type.String()),
        headers: Type.Record(Type.String(), Type.String(), {
          description: 'Without the signature; your own headers are masked.',
        }),
      },
      { description: 'Its body is the event, or the batch with the event: see `GET /v1/events/{id}`.' },
    ),
    status_code: Nullable(Type.Integer()),
    response_headers: Nullable(
      Type.Record(Type.String(), Type.Union([Type.String(), Type.Array(Type.String())]), {
        description:
          'Null without a response, if they are over 4 KiB, or without the scope messages:read_body, because a response may repeat the post.',
      }),
    ),
    response: Nullable(
      Type.String({ description: 'The first 4 KiB of the response; null without the scope messages:read_body.' }),
    ),
    timing: Type.Object({
      connect_ms: Nullable(
        Type.Integer({ description: 'Name look-up, connection and TLS; 0 over an open connection.' }),
      ),
      first_byte_ms: Nullable(Type.Integer({ description: 'From then to the head of the response.' })),
      total_ms: Type.Integer(),
    }),
    duration_ms: Type.Integer({ description: 'As `timing.total_ms`.' }),
    next_attempt_at: Nullable(Timestamp('When it is retried; null: never.')),
    created_at: Timestamp('When the attempt started.'),
  },
  { $id: 'Attempt' },
)

/** A row of attempts with fields of its event. */
export interface AttemptRow extends Pick<
  PostResult,
  'statusCode' | 'responseHeaders' | 'responseHead' | 'connectMs' | 'firstByteMs' | 'durationMs'
> {
  id: string
  endpointId: string
  eventId: string
  eventType: string | null
  messageId: string | null
  try: number
  outcome: string
  url: string | null
  headerNames: string[] | null
  batchId: string | null
  nextAttemptAt: Date | null
  createdAt: Date
}

const columns = `
  one.id, a.endpoint_id as "endpointId", one.event_id as "eventId", a.try, a.outcome,
  a.url, a.header_names as "headerNames", a.batch_id as "batchId", a.status_code as "statusCode",
  a.response_headers as "responseHeaders", a.response_head as "responseHead", one.connect_ms as "connectMs",
  one.first_byte_ms as "firstByteMs", one.duration_ms as "durationMs", a.next_attempt_at as "nextAttemptAt", one.created_at as "createdAt"`

const headersOf = ({ batchId, eventId, createdAt }: AttemptRow): Record<string, string> => ({
  'content-type': 'application/json',
  'webhook-id': batchId ? showId('bat', batchId) : showId('evt', eventId),
  'webhook-timestamp': String(Math.floor(createdAt.getTime() / 1000)),
})

const headersOfForm = ({ eventId }: AttemptRow): Record<string, string> => ({
  'content-type': 'application/x-www-form-urlencoded',
  'i-twilio-idempotency-token': showId('evt', eventId),
})

/** Responses can repeat the posted texts: callers without permission for texts do not get them. */
export function renderAttempt(row: AttemptRow, mayReadBodies: boolean): Static<typeof Attempt> {
  const names = row.headerNames ?? []
  // Ids of callback addresses are UUIDv8 (`callbackEndpointId`), those of webhooks UUIDv7.
  const isWebhook = row.endpointId[14] === '7'
  return {
    id: showId('att', row.id),
    object: 'attempt',
    webhook: isWebhook ? showId('whk', row.endpointId) : null,
    event: showId('evt', row.eventId),
    event_type: row.eventType,
    message: row.messageId && showId('msg', row.messageId),
    try: row.try,
    outcome: row.outcome,
    request: {
      url: row.url,
      headers: {
        ...(row.url !== null && wantsTwilioForm(row.url) ? headersOfForm(row) : headersOf(row)),
        ...maskHeaders(Object.fromEntries(names.map((name) => [name, '']))),
      },
    },
    status_code: row.statusCode,
    response_headers:
      row.responseHeaders === null || !mayReadBodies
        ? null
        : (JSON.parse(row.responseHeaders) as Record<string, string | string[]>),
    response: mayReadBodies ? row.responseHead : null,
    timing: { connect_ms: row.connectMs, first_byte_ms: row.firstByteMs, total_ms: row.durationMs },
    duration_ms: row.durationMs,
    next_attempt_at: showTime(row.nextAttemptAt),
    created_at: row.createdAt.toISOString(),
  }
}

/** Reads an endpoint's attempts by the primary key, or the succeeded or failed ones (attempts_failed_endpoint), in the order of `buildPage`. */
export async function listAttempts(
  db: Queryable,
  accountId: string,
  endpointId: string,
  isSuccess: boolean | null,
  limit: number,
  position: Position | null,
): Promise<AttemptRow[]> {
  const { beyond, order } = wayOf(position)
  const isUpward = beyond === '>'
  const id = position?.id ?? null
  const read = async (bound: string | null): Promise<AttemptRow[]> => {
    const { rows } = await db.query<AttemptRow>(
      `
      select ${columns}
      from attempts a
      cross join lateral ${attemptsIn('a')} one
      where a.account_id = $1
        and a.endpoint_id = $2
        ${isSuccess === null ? '' : `and a.outcome ${isSuccess ? '=' : '<>'} 'ok'`}
        and ($4::uuid is null or a.id ${beyond}= $5)
        and ($4::uuid is null or one.id ${beyond} $4)
        ${bound === null ? '' : `and a.id ${isUpward ? '<' : '>'} ${idSql(bound)}`}
      order by a.id ${order}, one.id ${order}
      limit $3`,
      [accountId, endpointId, limit + 1, id, id && isUpward ? rowIdOf(id) : id],
    )
    return rows
  }
  const rows = await readNearest({ from: position?.id ?? null, isUpward }, read, (found) => found.length > limit)
  return withEvents(db, accountId, rows)
}

/** Attempts with their events, if these still exist; by primary key. */
async function withEvents(db: Queryable, accountId: string, rows: readonly AttemptRow[]): Promise<AttemptRow[]> {
  if (rows.length === 0) return []
  const ids = [...new Set(rows.map(({ eventId }) => eventId))]
  const { rows: events } = await db.query<{ id: string; type: string; messageId: string | null }>(
    `select id, type, message_id as "messageId"
     from events
     where account_id = $1 and id = any ($2::uuid[]) and id ${within(spanOf(ids))}`,
    [accountId, ids],
  )
  const eventOf = new Map(events.map((event) => [event.id, event]))
  return rows.map((row) => {
    const event = eventOf.get(row.eventId)
    return { ...row, eventType: event?.type ?? null, messageId: event?.messageId ?? null }
  })
}

/** An event's attempts at all addresses, by attempts_event and attempts_more; no attempt is older than its event. */
export async function listAttemptsOfEvent(
  db: Queryable,
  accountId: string,
  event: { id: string; type: string; messageId: string | null },
  limit: number,
  position: Position | null,
): Promise<AttemptRow[]> {
  const { beyond, order } = wayOf(position)
  const { rows } = await db.query<AttemptRow>(
    `
    select ${columns}
    from attempts a
    cross join lateral ${attemptsIn('a')} one
    where a.account_id = $1
      and (a.event_id = $2 or ${hasLater('a', '$2::uuid')})
      and a.id > ${idSql(firstIdBehind(event.id))}
      and one.event_id = $2
      and ($4::uuid is null or one.id ${beyond} $4)
    order by one.id ${order}
    limit $3`,
    [accountId, event.id, limit + 1, position?.id ?? null],
  )
  return rows.map((row) => ({ ...row, eventType: event.type, messageId: event.messageId }))
}
