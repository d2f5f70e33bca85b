/** Every event type: whether it is always recorded, what it tells, and the schema of its `data`. A type is added here and nowhere else. */
import { Type, type TSchema } from 'typebox'
import { Nullable, Timestamp } from './http.ts'

interface EventKind {
  /** Recorded for every account; the others only while an endpoint of the account subscribes to them. */
  isContract: boolean
  sentence: string
  /** References name schemas that the slices register (`app.addSchema`). */
  data: TSchema
}

const message = Type.Ref('Message')

const Carrier = Type.Object(
  {
    mcc: Nullable(Type.String()),
    mnc: Nullable(Type.String()),
    code: Nullable(Type.String({ description: "The carrier's own error code." })),
    raw: Type.String({ description: "The carrier's own word for the state." }),
  },
  { description: 'What the receipt said.' },
)

const Change = Type.Object({
  message,
  previous_status: Nullable(Type.String({ description: 'Null where the message is new.' })),
  carrier: Type.Optional(Nullable(Carrier)),
})

const Consent = Type.Object({
  phone_number: Type.String(),
  source: Type.String({ description: 'Where it was said: by keyword, by the API, in an import.' }),
  reason: Nullable(Type.String()),
  keyword: Nullable(Type.String()),
  message: Nullable(Type.String({ description: 'Id of the reply that said so.' })),
  campaign: Nullable(Type.String()),
})

const alert = Type.Object({ alert: Type.Ref('Alert') })
const webhook = Type.Object({ webhook: Type.Ref('Webhook') })
const broadcast = Type.Object({ broadcast: Type.Ref('Broadcast') })
const guard = Type.Object({ guard: Type.Ref('Guard') })

const contract = (sentence: string, data: TSchema = Change): EventKind => ({ isContract: true, sentence, data })
const optional = (sentence: string, data: TSchema): EventKind => ({ isContract: false, sentence, data })

/** The registry. Consumers ignore types that they do not know, so that it may grow. */
export const eventTypes = {
  'message.delivered': contract('The network confirmed the delivery.'),
  'message.failed': contract('The message will not be delivered; `error.code` says why.'),
  'message.received': contract('A person wrote to one of your numbers.', Type.Object({ message })),
  'message.queued': optional('The message was accepted.', Change),
  'message.scheduled': optional('The message was accepted for a later time.', Change),
  'message.sent': optional('The carrier took every segment.', Change),
  'message.canceled': optional('The message was canceled before it was sent.', Change),
  'message.unconfirmed': optional('The outcome is not known; a late receipt may still settle it.', Change),
  'contact.opted_out': optional('A person opted out.', Consent),
  'contact.opted_in': optional('A person opted in again.', Consent),
  'contact.opt_out_suspected': optional(
    'A reply may mean STOP; a person should look at it.',
    Type.Object({ phone_number: Type.String(), message, campaign: Nullable(Type.String()) }),
  ),
  'campaign.completed': optional(
    'The last message of a broadcast has left.',
    Type.Object({ broadcast: Type.Ref('Broadcast') }),
  ),
  'campaign.approval_needed': optional('A broadcast waits for the approval of somebody else.', broadcast),
  'campaign.approved': optional('A broadcast was approved.', broadcast),
  'campaign.rejected': optional('A broadcast was rejected; nothing of it is sent.', broadcast),
  'campaign.withdrawn': optional('A broadcast was withdrawn; nothing of it is sent.', broadcast),
  'campaign.held': optional('A broadcast waits for the end of a guard that it ran into.', broadcast),
  'guard.tripped': optional('A guard has stopped messages; told once, not for each.', guard),
  'guard.released': optional('A guard was released, or its limit changed.', guard),
  'spend.limit_reached': optional('A limit of the day has stopped messages.', guard),
  'import.completed': optional('An import of contacts is over.', Type.Object({ import: Type.Ref('Import') })),
  'link.clicked': optional(
    'A person clicked on a short link for the first time.',
    Type.Object({
      message,
      link: Type.Object({
        url: Nullable(Type.String({ description: 'Null where texts are hidden.' })),
        short_url: Nullable(Type.String({ description: 'Null where texts are hidden.' })),
        clicked_at: Timestamp('When the person clicked.'),
      }),
    }),
  ),
  'link.down': optional('A link has had no session for ten seconds.', alert),
  'link.up': optional('A link that was down has had one again for ten seconds.', alert),
  'link.throttled': optional('A carrier has kept a link slower than its pace for half a minute.', alert),
  'link.recovered': optional('A link that was throttled has its pace again.', alert),
  'sender.degraded': optional('Less than 70 % of the messages of a sender arrive.', alert),
  'sender.recovered': optional('At least 80 % of the messages of such a sender arrive again.', alert),
  'webhook.failing': optional('An endpoint has answered nothing but failures for ten seconds.', alert),
  'webhook.recovered': optional('An endpoint that was failing answers well again.', alert),
  'reply.orphaned': optional('A reply came to a number that no account has.', alert),
  'webhook.answer_refused': optional(
    "An answer to an incoming message in Twilio's form was not done, or not all of it.",
    Type.Object({
      webhook: Type.String({ description: 'Id of the webhook that gave the answer.' }),
      event: Type.String({ description: 'Id of the event that it answered.' }),
      message: Type.String({ description: 'Id of the incoming message.' }),
      faults: Type.Array(
        Type.Object({
          element: Nullable(Type.String({ description: 'The element of the TwiML; null: the whole answer.' })),
          position: Nullable(Type.Integer({ description: 'Its place among the elements of the answer, from 1.' })),
          code: Type.Integer({ description: "Twilio's number of the error." }),
          detail: Type.String(),
        }),
      ),
    }),
  ),
  'webhook.disabled': optional('An endpoint was disabled.', webhook),
  'webhook.test': optional('A test that somebody asked for.', webhook),
} as const satisfies Record<string, EventKind>

export type EventType = keyof typeof eventTypes
type Family = EventType extends `${infer Name}.${string}` ? Name : never
/** What a webhook subscribes to: a type, a family of types (`message.*`), or everything (`*`), with types that later versions add. */
export type EventPattern = EventType | `${Family}.*` | '*'

const typeNames = Object.keys(eventTypes) as EventType[]
const familyOf = (type: EventType): EventPattern => `${type.split('.', 1)[0] as Family}.*`

/** All that a webhook may subscribe to. */
export const eventPatterns: EventPattern[] = ['*', ...new Set(typeNames.map(familyOf)), ...typeNames]

/** The types that patterns stand for. */
export function typesOf(patterns: readonly string[]): EventType[] {
  const wanted = new Set(patterns)
  return typeNames.filter((type) => wanted.has(type) || wanted.has(familyOf(type)) || wanted.has('*'))
}

/** Says in SQL that a webhook under the alias subscribes to a type; as `typesOf`. */
export const subscribes = (w: string, type: string): string =>
  `(${type} = any (${w}.events) or ${w}.events && array['*', split_part(${type}, '.', 1) || '.*'])`

/** The body of a post of one type, as it is described and checked. */
export function eventSchema(type: EventType): TSchema {
  const { sentence, data } = eventTypes[type]
  return Type.Object(
    {
      id: Type.String({
        description: 'The same at every try and replay; equals the webhook-id header of a post of one.',
      }),
      type: Type.Literal(type),
      timestamp: Timestamp('When it was recorded.'),
      api_version: Type.String(),
      sequence: Type.Integer({ description: 'Grows with every event of a message: keep the highest.' }),
      data,
    },
    { description: sentence },
  )
}
