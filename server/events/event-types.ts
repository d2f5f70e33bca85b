/** The registry of event types: a type is added here and nowhere else. */
import { Type, type TSchema } from 'typebox'
import { Nullable, Timestamp } from '../ground/http/http.ts'

interface EventKind {
  /** Recorded for every account; the others only while an endpoint of the account subscribes to them. */
  isContract: boolean
  sentence: string
  /** References name schemas that the rooms register (`app.addSchema`). */
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
  { description: 'The content of the receipt.' },
)

const Change = Type.Object({
  message,
  previous_status: Nullable(Type.String({ description: 'Null if the message is new.' })),
  carrier: Type.Optional(Nullable(Carrier)),
})

const Consent = Type.Object({
  phone_number: Type.String(),
  source: Type.String({ description: 'The source: a keyword, the API, an import.' }),
  reason: Nullable(Type.String()),
  keyword: Nullable(Type.String()),
  message: Nullable(Type.String({ description: 'Id of the reply, if it came from one.' })),
  campaign: Nullable(Type.String()),
})

const alert = Type.Object({ alert: Type.Ref('Alert') })
const webhook = Type.Object({ webhook: Type.Ref('Webhook') })
const broadcast = Type.Object({ broadcast: Type.Ref('Broadcast') })
const guard = Type.Object({ guard: Type.Ref('Guard') })

const contract = (sentence: string, data: TSchema = Change): EventKind => ({ isContract: true, sentence, data })
const optional = (sentence: string, data: TSchema): EventKind => ({ isContract: false, sentence, data })

/** Consumers ignore unknown types, so it may grow. */
export const eventTypes = {
  'message.delivered': contract('The network confirmed delivery.'),
  'message.failed': contract('The message will not be delivered; `error.code` gives the reason.'),
  'message.received': contract('A person sent a message to one of your numbers.', Type.Object({ message })),
  'message.queued': optional('The message was accepted.', Change),
  'message.scheduled': optional('The message was accepted for a later time.', Change),
  'message.sent': optional('The carrier accepted every segment.', Change),
  'message.canceled': optional('The message was canceled before it was sent.', Change),
  'message.unconfirmed': optional('The outcome is unknown; a late receipt may still settle it.', Change),
  'contact.opted_out': optional('A person opted out.', Consent),
  'contact.opted_in': optional('A person opted in again.', Consent),
  'contact.opt_out_suspected': optional(
    'A reply may mean STOP; a person should review it.',
    Type.Object({ phone_number: Type.String(), message, campaign: Nullable(Type.String()) }),
  ),
  'campaign.completed': optional(
    'The last message of a broadcast was sent.',
    Type.Object({ broadcast: Type.Ref('Broadcast') }),
  ),
  'campaign.approval_needed': optional('A broadcast needs approval by somebody else.', broadcast),
  'campaign.approved': optional('A broadcast was approved.', broadcast),
  'campaign.rejected': optional('A broadcast was rejected; nothing is sent.', broadcast),
  'campaign.withdrawn': optional('A broadcast was withdrawn; nothing is sent.', broadcast),
  'campaign.held': optional('A broadcast waits because it reached a guard.', broadcast),
  'guard.tripped': optional('A guard has stopped messages; sent once, not for each message.', guard),
  'guard.released': optional('A guard was released, or its limit changed.', guard),
  'spend.limit_reached': optional('A daily limit has stopped messages.', guard),
  'import.completed': optional('An import of contacts has ended.', Type.Object({ import: Type.Ref('Import') })),
  'link.clicked': optional(
    'A person clicked a short link for the first time.',
    Type.Object({
      message,
      link: Type.Object({
        url: Nullable(Type.String({ description: 'Null if texts are hidden.' })),
        short_url: Nullable(Type.String({ description: 'Null if texts are hidden.' })),
        clicked_at: Timestamp('When the person clicked.'),
      }),
    }),
  ),
  'link.down': optional('A link has had no session for ten seconds.', alert),
  'link.up': optional('A link that was down has been up for ten seconds.', alert),
  'link.throttled': optional('A carrier has throttled a link for half a minute.', alert),
  'link.recovered': optional('A throttled link has its full pace again.', alert),
  'sender.degraded': optional("Less than 70% of a sender's messages are delivered.", alert),
  'sender.recovered': optional("At least 80% of such a sender's messages are delivered again.", alert),
  'webhook.failing': optional('Every delivery to a webhook has failed for ten seconds.', alert),
  'webhook.recovered': optional('A failing webhook works again.', alert),
  'reply.orphaned': optional('A reply arrived for a number that no account has.', alert),
  'webhook.answer_refused': optional(
    'A TwiML response to an incoming message was refused, in whole or in part.',
    Type.Object({
      webhook: Type.String({ description: 'Id of the webhook that responded.' }),
      event: Type.String({ description: 'Id of the event that it responded to.' }),
      message: Type.String({ description: 'Id of the incoming message.' }),
      faults: Type.Array(
        Type.Object({
          element: Nullable(Type.String({ description: 'The element of the TwiML; null: the whole response.' })),
          position: Nullable(Type.Integer({ description: 'Its position among the elements of the response, from 1.' })),
          code: Type.Integer({ description: "Twilio's number of the error." }),
          detail: Type.String(),
        }),
      ),
    }),
  ),
  'webhook.disabled': optional('A webhook was disabled.', webhook),
  'webhook.test': optional('A test event that somebody requested.', webhook),
} as const satisfies Record<string, EventKind>

export type EventType = keyof typeof eventTypes
type Family = EventType extends `${infer Name}.${string}` ? Name : never
/** The subscription of a webhook: a type, a family (`message.*`), or everything (`*`), including types of later versions. */
export type EventPattern = EventType | `${Family}.*` | '*'

const typeNames = Object.keys(eventTypes) as EventType[]
const familyOf = (type: EventType): EventPattern => `${type.split('.', 1)[0] as Family}.*`

export const eventPatterns: EventPattern[] = ['*', ...new Set(typeNames.map(familyOf)), ...typeNames]

/** Expands patterns to types. */
export function typesOf(patterns: readonly string[]): EventType[] {
  const wanted = new Set(patterns)
  return typeNames.filter((type) => wanted.has(type) || wanted.has(familyOf(type)) || wanted.has('*'))
}

/** The SQL of `typesOf`: whether a webhook under the alias subscribes to a type. */
export const subscribes = (w: string, type: string): string =>
  `(${type} = any (${w}.events) or ${w}.events && array['*', split_part(${type}, '.', 1) || '.*'])`

export function eventSchema(type: EventType): TSchema {
  const { sentence, data } = eventTypes[type]
  return Type.Object(
    {
      id: Type.String({
        description: 'The same in every attempt and replay; equals the webhook-id header of its post.',
      }),
      type: Type.Literal(type),
      timestamp: Timestamp('When it was recorded.'),
      api_version: Type.String(),
      sequence: Type.Integer({ description: 'Increases with every event of a message: keep the highest.' }),
      data,
    },
    { description: sentence },
  )
}
