/** Webhooks and events in the API. */
import { Type, type Static } from 'typebox'
import { eventPatterns } from '../events/event-types.ts'
import { eventTypes, type EventType } from '../events/events.ts'
import { IdOf, Nullable, showTime, Timestamp } from '../ground/http/http.ts'
import { showId } from '../ground/base/ids.ts'
import { hideText } from '../message/show.ts'
import { mask, maskHeaders, type Headers } from './headers.ts'

const typeNames = Object.keys(eventTypes) as EventType[]

/** The default event types of an endpoint. */
export const contractEvents: EventType[] = typeNames.filter((type) => eventTypes[type].isContract)

/** The list grows, and consumers ignore unknown types. */
export const EventTypeName = Type.Enum(typeNames, { description: 'An event type.' })

const HeaderMap = Type.Record(Type.String(), Type.String({ maxLength: 1000 }), {
  description: `Your own headers for every post, such as \`Authorization\`; at most 10, in 4096 characters. Stored encrypted and shown as \`${mask}\`; send that value to keep a header unchanged.`,
})
const ordered = Type.Boolean({
  description:
    'Events of one message are posted one after the other: a failing one delays only the later ones of its message.',
})
const Batch = Type.Object(
  {
    max_events: Type.Integer({ minimum: 1, maximum: 200, description: 'Maximum events in a post.' }),
    max_wait_ms: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 10_000, description: 'Maximum wait for more events; default 1000.' }),
    ),
  },
  {
    additionalProperties: false,
    description:
      'Several events in a post: `{"events": […]}`, signed as a whole, with its own `webhook-id` (`bat_…`). A 2xx accepts all of them. After any other response each is posted again with its own id, perhaps in other batches. null: one event in a post.',
  },
)
const includeBodies = Type.Boolean({
  description:
    'Whether posts contain message texts. Only callers with the scope `messages:read_body` can turn it on; without that scope it is off for a new webhook, and for one whose url you change.',
})
const url = Type.String({
  maxLength: 2000,
  description: 'Where events are posted: https, a public address, port 443 or 8443, unless the operator allows more.',
  examples: ['https://example.com/hooks/sms'],
})
const EventPattern = Type.Enum(eventPatterns, {
  description:
    'An event type; a family of types, such as `message.*`; or `*` for all. Both include types that are added later.',
})
const events = Type.Array(EventPattern, { minItems: 1, maxItems: 50, uniqueItems: true })
const description = Nullable(Type.String({ maxLength: 500 }))

export const Webhook = Type.Object(
  {
    id: IdOf('whk', 'The webhook.'),
    object: Type.Literal('webhook'),
    url: Type.String(),
    events: Type.Array(Type.String(), {
      description: 'Event types, families (`message.*`) or `*`, as you set them.',
    }),
    description: Nullable(Type.String()),
    enabled: Type.Boolean({
      description:
        'Events pending when it becomes false, and events until it is true again, are in the event log and can only be replayed.',
    }),
    disabled_reason: Nullable(
      Type.String({ description: '`gone`: it answered 410; `failing`: it failed for 5 days; `request`: by this API.' }),
    ),
    disabled_at: Nullable(
      Timestamp(
        'When it was last disabled. Events that it refused, or that were pending, are older: start a replay an hour before `failing_since`, or before this time.',
      ),
    ),
    headers: HeaderMap,
    ordered,
    batch: Nullable(Batch),
    include_bodies: includeBodies,
    failing_since: Nullable(
      Timestamp('The first failure since the last success, or since the url changed; null while it works.'),
    ),
    created_at: Timestamp('When it was created.'),
    updated_at: Timestamp('When its settings were changed last.'),
  },
  { $id: 'Webhook' },
)

export const NewWebhook = Type.Object(
  {
    url,
    events: Type.Optional(events),
    description: Type.Optional(description),
    enabled: Type.Optional(Type.Boolean({ default: true })),
    headers: Type.Optional(HeaderMap),
    ordered: Type.Optional(ordered),
    batch: Type.Optional(Nullable(Batch)),
    include_bodies: Type.Optional(includeBodies),
  },
  { additionalProperties: false, examples: [{ url: 'https://example.com/heliogram' }] },
)

export const WebhookChange = Type.Partial(NewWebhook, { additionalProperties: false, examples: [{ enabled: true }] })
export type WebhookChange = Static<typeof WebhookChange>

/** The signing secret, which only the response that created it contains. */
export const Secret = Type.String({ description: 'Standard Webhooks secret. Shown only now.', examples: ['whsec_…'] })

/** An event as posted. */
export const Event = Type.Object(
  {
    id: IdOf('evt', 'The event; the same in every post of it.'),
    type: Type.String(),
    timestamp: Timestamp('When it was recorded.'),
    api_version: Type.String(),
    sequence: Type.Integer({ description: 'Increases with every change of a message: the highest is the newest.' }),
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
  disabledAt: Date | null
  headers: Headers
  isOrdered: boolean
  batchEvents: number | null
  batchWaitMs: number | null
  hasBodies: boolean
  failingSince: Date | null
  createdAt: Date
  updatedAt: Date
}

/** Never shows the secret. */
export function renderWebhook(row: WebhookRow): Static<typeof Webhook> {
  return {
    id: showId('whk', row.id),
    object: 'webhook',
    url: row.url,
    events: row.events,
    description: row.description,
    enabled: row.enabled,
    disabled_reason: row.disabledReason,
    disabled_at: showTime(row.disabledAt),
    headers: maskHeaders(row.headers),
    ordered: row.isOrdered,
    batch: row.batchEvents === null ? null : { max_events: row.batchEvents, max_wait_ms: row.batchWaitMs ?? 0 },
    include_bodies: row.hasBodies,
    failing_since: showTime(row.failingSince),
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
  }
}

/** Without permission to read texts, removes them and the addresses of links in them. */
export function renderEvent(payload: string, mayReadBodies: boolean): Static<typeof Event> {
  const event = JSON.parse(payload) as Static<typeof Event> & { data: { message?: unknown; link?: object } }
  const { message, link } = event.data
  // Events about consent name their message by its id.
  if (mayReadBodies || typeof message !== 'object' || message === null) return event
  const hidden = { message: hideText(message), ...(link && { link: { ...link, url: null, short_url: null } }) }
  return { ...event, data: { ...event.data, ...hidden } }
}

/** A payload without the text of its message. */
export function hideTexts(payload: string): string {
  return JSON.stringify(renderEvent(payload, false))
}
