/** The shapes of the message resource, as they are checked and documented. */
import { Type, type Static } from 'typebox'
import { IdOf, Nullable, Timestamp } from '../http.ts'
import { MoneySchema } from '../money.ts'
import { messageTypes, statuses, unknownPolicies } from './message.ts'

/** Longest text in code points (specification, section 8). */
export const textMax = 1600
/** Longest wait of `send_at`, in days. */
export const sendAtMaxDays = 365

const to = Type.String({
  description: 'Recipient in E.164: digits, a plus sign in front is allowed.',
  examples: ['15551230001'],
  maxLength: 40,
})
const text = Type.String({
  minLength: 1,
  maxLength: textMax,
  description: 'The text.',
  examples: ['Hello from Heliogram'],
})
const campaign = Type.String({
  minLength: 1,
  maxLength: 255,
  description: 'Id or key of a campaign.',
  examples: ['spring-sale'],
})
const from = Type.String({
  minLength: 1,
  maxLength: 16,
  description:
    "One of the account's senders; the campaign's or the account's default otherwise. An account without senders sends without one, and the carrier puts its own.",
  examples: ['15557654321'],
})
const encoding = Type.Enum(['auto', 'gsm7', 'ucs2'], { description: 'auto: GSM-7 where the text allows it.' })
const smartEncoding = Type.Boolean({
  description:
    'Replace typographic characters (curly quotes, dashes, ellipses, special spaces) where this alone brings the text into GSM-7. Never for codes.',
})
const type = Type.Enum([...messageTypes], { description: 'What it is for; otp goes first, marketing last.' })

const shortenUrls = Type.Boolean({
  description:
    "Put a short link of its own in the place of each address in the text, and count clicks. The campaign's or false otherwise.",
})

/** What becomes of a message whose outcome is unknown. */
const OnUnknown = Type.Enum([...unknownPolicies], {
  description:
    "When the carrier does not answer: `hold` it as unconfirmed, or `resend`, perhaps twice. The campaign's, the account's or the link's otherwise.",
})

/** A send with its text; a caller may name a template instead (see templates/send.ts). */
export const SendBody = Type.Object(
  {
    to,
    message: text,
    campaign: Type.Optional(campaign),
    from: Type.Optional(from),
    sender_pool: Type.Optional(
      IdOf('pol', 'A pool of the account, one of whose senders is used. Not together with `from`.'),
    ),
    type: Type.Optional(type),
    encoding: Type.Optional(encoding),
    smart_encoding: Type.Optional(smartEncoding),
    max_price: Type.Optional(
      Type.Object(MoneySchema.properties, {
        additionalProperties: false,
        description: 'The most it may cost, by the estimate. Where no price is known it is sent.',
      }),
    ),
    max_segments: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 255, description: 'Refuse a text that needs more.' }),
    ),
    shorten_urls: Type.Optional(shortenUrls),
    send_at: Type.Optional(Timestamp(`When to send it; up to ${sendAtMaxDays} days ahead.`)),
    validity_period: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 259_200,
        description: "Seconds for which it is of use; the campaign's or 36000 otherwise.",
      }),
    ),
    on_unknown: Type.Optional(OnUnknown),
    retain_content: Type.Optional(
      Type.Boolean({ description: 'false: the text is removed as soon as the message is over. true otherwise.' }),
    ),
    callback_url: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 2048,
        description: "Gets this message's events instead of the account's webhooks.",
      }),
    ),
    metadata: Type.Optional(
      Type.Record(Type.String(), Type.String({ maxLength: 500 }), {
        maxProperties: 50,
        propertyNames: { minLength: 1, maxLength: 40 },
        description: 'Yours; returned with the message and in its events.',
      }),
    ),
    tags: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 64 }), {
        maxItems: 20,
        uniqueItems: true,
        description: 'For filters.',
      }),
    ),
  },
  { additionalProperties: false },
)
export type SendBody = Static<typeof SendBody>

/** Characters that were replaced by others of GSM-7. */
export const Replaced = Type.Array(
  Type.Object({
    character: Type.String(),
    code_point: Type.String({ description: 'As U+2019; of a letter with combining marks, all of them.' }),
    replacement: Type.String({ description: 'Empty where it was left out.' }),
    count: Type.Integer(),
  }),
)

/** What a sender may want to know of a text or a number; it refuses nothing. */
export const Warning = Type.Object({
  code: Type.String(),
  detail: Type.String(),
  until: Type.Optional(Type.String({ description: 'Of `quiet_hours_hold`: when they end.' })),
  characters: Type.Optional(
    Type.Array(Type.Object({ character: Type.String(), code_point: Type.String(), position: Type.Integer() })),
  ),
  replaced: Type.Optional(Replaced),
})

/** Members that only one direction has are optional. */
export const Message = Type.Object(
  {
    id: IdOf('msg', 'Id of the message.'),
    object: Type.Literal('message'),
    direction: Type.Enum(['outbound', 'inbound']),
    status: Type.Enum([...statuses]),
    delivery_status: Nullable(Type.Enum(['Delivered', 'Failed'])),
    final: Type.Boolean({ description: 'No later change is to be expected.' }),
    to: Nullable(Type.String()),
    from: Nullable(Type.String()),
    message: Nullable(Type.String({ description: 'Null without the scope messages:read_body.' })),
    redacted: Type.Optional(
      Type.Boolean({ description: 'The text was removed, by request or by age. Absent otherwise.' }),
    ),
    text_unavailable: Type.Optional(
      Type.Boolean({
        description:
          'There is a text, but it cannot be decrypted: its key is gone, or it was changed. Absent otherwise.',
      }),
    ),
    campaign: Nullable(Type.String()),
    contact: Nullable(Type.String()),
    encoding: Type.Enum(['GSM-7', 'UCS-2']),
    segments: Type.Integer(),
    characters: Type.Integer({ description: 'Code points.' }),
    test: Type.Boolean(),
    sequence: Type.Integer({ description: 'Goes up with every change; keep the highest.' }),
    created_at: Timestamp('When it was accepted or received.'),
    updated_at: Timestamp('When it last changed.'),
    keyword: Type.Optional(Nullable(Type.Enum(['stop', 'start', 'help']))),
    in_reply_to: Type.Optional(Nullable(Type.String())),
    partial: Type.Optional(Type.Boolean({ description: 'Parts of a long reply are missing.' })),
    octets: Type.Optional(
      Type.String({
        description:
          'What was received of a reply whose octets are not what the carrier declared of them, in hexadecimal. Only in the answer to a request for this message, with the scope messages:read_body.',
      }),
    ),
    conversation: Type.Optional(Nullable(Type.String({ description: 'The conversation that it belongs to.' }))),
    type: Type.Optional(Type.Enum([...messageTypes])),
    automatic: Type.Optional(Type.Boolean({ description: 'Sent by Heliogram itself to confirm a keyword.' })),
    segments_delivered: Type.Optional(Type.Integer()),
    warnings: Type.Optional(Type.Array(Warning)),
    send_at: Type.Optional(Nullable(Type.String())),
    expires_at: Type.Optional(Nullable(Type.String())),
    estimated_send_at: Type.Optional(
      Nullable(
        Type.String({
          description:
            'When it is thought to go; null: nobody knows, it is over, or it waits in line and is one of a list.',
        }),
      ),
    ),
    hold: Type.Optional(
      Nullable(
        Type.Object(
          {
            reason: Type.String({ examples: ['no_route', 'rate', 'campaign_paused', 'quiet_hours', 'parked'] }),
            until: Nullable(Type.String()),
          },
          { description: 'What it waits for, beyond its turn; null: nothing.' },
        ),
      ),
    ),
    route: Type.Optional(Nullable(Type.Object({ carrier: Type.String() }))),
    provider_message_id: Type.Optional(Nullable(Type.String())),
    attempts: Type.Optional(
      Type.Integer({
        description: 'Times that it was written to a carrier; a connection that was refused does not count.',
      }),
    ),
    possible_duplicate: Type.Optional(
      Type.Boolean({ description: 'It was sent again after an unknown outcome: the recipient may have it twice.' }),
    ),
    on_unknown: Type.Optional(Nullable(OnUnknown)),
    price: Type.Optional(
      Type.Union([MoneySchema, Type.Null()], {
        description: 'What the carrier that took it takes for it; null: it has not gone out, or no price is known.',
      }),
    ),
    estimated_price: Type.Optional(
      Type.Union([MoneySchema, Type.Null()], {
        description:
          'What it was expected to cost when it was accepted, by the rate card of the first carrier of its route; null: nobody knew.',
      }),
    ),
    error: Type.Optional(
      Nullable(
        Type.Object({
          code: Type.String(),
          title: Type.String(),
          detail: Type.String(),
          permanent: Type.Boolean(),
          retryable: Type.Boolean(),
          stage: Nullable(Type.String()),
          source: Type.Object({
            provider: Nullable(Type.String()),
            code: Nullable(Type.String()),
            raw: Nullable(Type.String()),
          }),
          advice: Type.String(),
          doc_url: Type.String(),
        }),
      ),
    ),
    callback_url: Type.Optional(Nullable(Type.String())),
    metadata: Type.Optional(Type.Record(Type.String(), Type.String())),
    tags: Type.Optional(Type.Array(Type.String())),
    queued_at: Type.Optional(Nullable(Type.String())),
    sent_at: Type.Optional(Nullable(Type.String())),
    completed_at: Type.Optional(Nullable(Type.String())),
  },
  { $id: 'Message', description: 'A message of either direction.' },
)

export const BatchResult = Type.Object({
  object: Type.Literal('batch'),
  accepted: Type.Integer(),
  refused: Type.Integer(),
  results: Type.Array(
    Type.Object({
      index: Type.Integer(),
      status: Type.Integer({ description: 'What a single send would have answered.' }),
      message: Type.Optional(Type.Ref('Message')),
      error: Type.Optional(Type.Ref('Problem')),
    }),
  ),
})

export const Timeline = Type.Object({
  data: Type.Array(
    Type.Object({
      at: Type.String(),
      type: Type.String({ description: 'accepted, scheduled, submitted, answered, receipt, or a status.' }),
      detail: Type.String(),
      segment: Type.Optional(Type.Integer()),
      try: Type.Optional(Type.Integer()),
      carrier_message_id: Type.Optional(Nullable(Type.String())),
      possible_duplicate: Type.Optional(
        Type.Boolean({ description: 'It repeats a try whose outcome was unknown: the carrier may have both.' }),
      ),
    }),
  ),
})
