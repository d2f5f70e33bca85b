/** The body of a send, and its warnings, as checked and documented. */
import { Type, type Static } from 'typebox'
import { IdOf, Timestamp } from '../ground/http/http.ts'
import { MoneySchema } from '../ground/base/money.ts'
import { messageTypes, unknownPolicies } from './message.ts'

/** In code points (specification, section 8). */
export const textMax = 1600
/** Longest delay of `send_at`, in days. */
export const sendAtMaxDays = 365

const to = Type.String({
  description: 'Recipient in E.164: digits, optionally with a plus sign.',
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
    "One of the account's senders. Default: the campaign's, then the account's. An account without senders sends without one, and the carrier uses its own.",
  examples: ['15557654321'],
})
const encoding = Type.Enum(['auto', 'gsm7', 'ucs2'], { description: 'auto: GSM-7 if the text allows it.' })
const smartEncoding = Type.Boolean({
  description:
    'Replace typographic characters (curly quotes, dashes, ellipses, special spaces) if the text then fits into GSM-7. Never for one-time passwords.',
})
const type = Type.Enum([...messageTypes], { description: 'Its purpose; otp goes first, marketing last.' })

const shortenUrls = Type.Boolean({
  description:
    "Replace each address in the text by its own short link, and count clicks. Default: the campaign's setting, then false.",
})

/** For messages with an unknown outcome. */
export const OnUnknown = Type.Enum([...unknownPolicies], {
  description:
    'If the carrier does not answer: `hold` it as unconfirmed, or `resend`, perhaps twice. Default: the setting of the campaign, the account, then the link.',
})

/** A send with its text; a caller may name a template instead (`SendInput`). */
export const SendBody = Type.Object(
  {
    to,
    message: text,
    campaign: Type.Optional(campaign),
    from: Type.Optional(from),
    sender_pool: Type.Optional(
      IdOf('pol', 'A pool of the account, which provides the sender. Not together with `from`.'),
    ),
    type: Type.Optional(type),
    encoding: Type.Optional(encoding),
    smart_encoding: Type.Optional(smartEncoding),
    max_price: Type.Optional(
      Type.Object(MoneySchema.properties, {
        additionalProperties: false,
        description: 'The maximum estimated cost. If no price is known, the message is sent.',
      }),
    ),
    max_segments: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 255, description: 'Refuse a text that needs more segments.' }),
    ),
    shorten_urls: Type.Optional(shortenUrls),
    send_at: Type.Optional(Timestamp(`When to send it; up to ${sendAtMaxDays} days ahead.`)),
    validity_period: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 259_200,
        description: "Seconds for which it is useful. Default: the campaign's value, then 36000.",
      }),
    ),
    on_unknown: Type.Optional(OnUnknown),
    retain_content: Type.Optional(
      Type.Boolean({ description: 'false: the text is removed as soon as the message is final. Default: true.' }),
    ),
    callback_url: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 2048,
        description: "Receives this message's events instead of the account's webhooks.",
      }),
    ),
    metadata: Type.Optional(
      Type.Record(Type.String(), Type.String({ maxLength: 500 }), {
        maxProperties: 50,
        propertyNames: { minLength: 1, maxLength: 40 },
        description: 'Your own data; returned with the message and in its events.',
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
    code_point: Type.String({ description: 'As U+2019; for a letter with combining marks, all of them.' }),
    replacement: Type.String({ description: 'Empty if it was left out.' }),
    count: Type.Integer(),
  }),
)

/** A hint about a text or a number; it refuses nothing. */
export const Warning = Type.Object({
  code: Type.String(),
  detail: Type.String(),
  until: Type.Optional(Type.String({ description: 'For `quiet_hours_hold`: when they end.' })),
  characters: Type.Optional(
    Type.Array(Type.Object({ character: Type.String(), code_point: Type.String(), position: Type.Integer() })),
  ),
  replaced: Type.Optional(Replaced),
})
