/** Webhooks, attempts and events as the API shows and takes them. */
import { Type, type Static } from 'typebox'
import { eventTypes, type EventType } from '../events.ts'
import { IdOf, Nullable, showTime, Timestamp } from '../http.ts'
import { showId } from '../ids.ts'

const typeNames = Object.keys(eventTypes) as EventType[]

/** The types that an endpoint gets when it does not say. */
export const contractEvents: EventType[] = typeNames.filter((type) => eventTypes[type].isContract)

/** An event type; the list grows, and consumers ignore what they do not know. */
export const EventTypeName = Type.Enum(typeNames, { description: 'An event type.' })

const Headers = Type.Record(Type.String(), Type.String({ maxLength: 1000 }), {
  description: 'Headers that every post carries too, such as `Authorization`; at most 10.',
})
const url = Type.String({
  maxLength: 2000,
  description: 'Where events are posted: https, a public address, port 443 or 8443, unless the operator allows more.',
  examples: ['https://example.com/hooks/sms'],
})
const events = Type.Array(EventTypeName, { minItems: 1, maxItems: 50, uniqueItems: true })
const description = Nullable(Type.String({ maxLength: 500 }))

/** An endpoint that events are posted to. */
export const Webhook = Type.Object(
  {
    id: IdOf('whk', 'The endpoint.'),
    object: Type.Literal('webhook'),
    url: Type.String(),
    events: Type.Array(Type.String()),
    description: Nullable(Type.String()),
    enabled: Type.Boolean({
      description: 'What happens while it is false is in the event log, and is not posted later.',
    }),
    disabled_reason: Nullable(
      Type.String({ description: '`gone`: it answered 410; `failing`: it failed for 5 days; `request`: by this API.' }),
    ),
    headers: Headers,
    failing_since: Nullable(Timestamp('The first failure since the last success; null while it works.')),
    created_at: Timestamp('When it was created.'),
    updated_at: Timestamp('When its settings were changed last.'),
  },
  { $id: 'Webhook' },
)

/** The fields of a new webhook. */
export const NewWebhook = Type.Object(
  {
    url,
    events: Type.Optional(events),
    description: Type.Optional(description),
    enabled: Type.Optional(Type.Boolean({ default: true })),
    headers: Type.Optional(Headers),
  },
  { additionalProperties: false },
)

/** The fields of a webhook that can be changed. */
export const WebhookChange = Type.Partial(NewWebhook, { additionalProperties: false })
export type WebhookChange = Static<typeof WebhookChange>

/** The signing secret, which only the answer that made it contains. */
export const Secret = Type.String({ description: 'Standard Webhooks secret. Shown once.', examples: ['whsec_…'] })

/** One POST of an event. */
export const Attempt = Type.Object(
  {
    id: IdOf('att', 'The attempt.'),
    object: Type.Literal('attempt'),
    event: IdOf('evt', 'The event; the `webhook-id` of the post.'),
    event_type: Nullable(Type.String()),
    message: Nullable(IdOf('msg', 'The message that the event is about.')),
    try: Type.Integer({ description: 'Counts the attempts of this event at this endpoint, from 1.' }),
    outcome: Type.String({
      description:
        '`ok`, or why not: `status` (not 2xx), `redirect`, `gone` (410), `timeout`, `refused`, `reset`, `dns`, `tls`, `private_address`, ' +
        '`not_allowed` (plain http or port), `too_large` (an answer over 64 KiB), `protocol` (not HTTP).',
    }),
    status_code: Nullable(Type.Integer()),
    response: Nullable(Type.String({ description: 'The first 4 KiB of the answer.' })),
    duration_ms: Type.Integer(),
    next_attempt_at: Nullable(Timestamp('When it is tried again; null: not.')),
    created_at: Timestamp('When the attempt began.'),
  },
  { $id: 'Attempt' },
)

/** What happened, as it was posted. */
export const Event = Type.Object(
  {
    id: IdOf('evt', 'The event; the same on every post of it.'),
    type: Type.String(),
    timestamp: Timestamp('When it was recorded.'),
    api_version: Type.String(),
    sequence: Type.Integer({ description: 'Grows with every change of a message: the highest is the newest.' }),
    data: Type.Object(
      {},
      { additionalProperties: true, description: 'Whole resources as they were after the change.' },
    ),
  },
  { $id: 'Event' },
)

/** A row of webhooks as `store.ts` reads it. */
export interface WebhookRow {
  id: string
  url: string
  events: string[]
  description: string | null
  enabled: boolean
  disabledReason: string | null
  headers: Record<string, string>
  failingSince: Date | null
  createdAt: Date
  updatedAt: Date
}

/** The Webhook of a row; never its secret. */
export function renderWebhook(row: WebhookRow): Static<typeof Webhook> {
  return {
    id: showId('whk', row.id),
    object: 'webhook',
    url: row.url,
    events: row.events,
    description: row.description,
    enabled: row.enabled,
    disabled_reason: row.disabledReason,
    headers: row.headers,
    failing_since: showTime(row.failingSince),
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
  }
}

/** A row of attempts with what its event says of it. */
export interface AttemptRow {
  id: string
  eventId: string
  eventType: string | null
  messageId: string | null
  try: number
  outcome: string
  statusCode: number | null
  responseHead: string | null
  durationMs: number
  nextAttemptAt: Date | null
  createdAt: Date
}

/** The Attempt of a row. */
export function renderAttempt(row: AttemptRow): Static<typeof Attempt> {
  return {
    id: showId('att', row.id),
    object: 'attempt',
    event: showId('evt', row.eventId),
    event_type: row.eventType,
    message: row.messageId && showId('msg', row.messageId),
    try: row.try,
    outcome: row.outcome,
    status_code: row.statusCode,
    response: row.responseHead,
    duration_ms: row.durationMs,
    next_attempt_at: showTime(row.nextAttemptAt),
    created_at: row.createdAt.toISOString(),
  }
}

/** The Event of a payload. A caller that may not read texts gets none. */
export function renderEvent(payload: string, mayReadBodies: boolean): Static<typeof Event> {
  const event = JSON.parse(payload) as Static<typeof Event> & { data: { message?: { message?: unknown } } }
  if (!mayReadBodies && event.data.message) event.data.message.message = null
  return event
}
