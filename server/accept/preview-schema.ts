import { Type } from 'typebox'
import { IdOf, Nullable } from '../ground/http/http.ts'
import { MoneySchema } from '../ground/base/money.ts'
import { messageTypes } from '../message/message.ts'
import { Replaced, Warning } from '../message/send-schema.ts'
import { SendInput } from './read-send.ts'

const { to, from, sender_pool, campaign, message, template, variables, language } = SendInput.properties
const { type, encoding, smart_encoding, shorten_urls } = SendInput.properties

/** The fields besides the text that decide how it is sent. */
export const previewFields = {
  to: Type.Optional(to),
  from,
  sender_pool,
  campaign,
  type,
  encoding,
  smart_encoding,
  shorten_urls,
}

export const PreviewBody = Type.Object(
  { message, template, variables, language, ...previewFields },
  { additionalProperties: false, examples: [{ to: '15551230001', message: 'Hello from Heliogram' }] },
)

export const Preview = Type.Object({
  object: Type.Literal('preview'),
  to: Nullable(Type.String()),
  from: Nullable(Type.String({ description: 'With `to`: its sender; null: none, or unknown.' })),
  campaign: Nullable(IdOf('cmp', 'Its campaign.')),
  type: Type.Enum([...messageTypes], { description: 'The message as it would be sent.' }),
  message: Type.String({ description: 'The text as it would be sent.' }),
  encoding: Type.Enum(['GSM-7', 'UCS-2']),
  characters: Type.Integer(),
  segments: Type.Integer(),
  parts: Type.Array(Type.Object({ text: Type.String(), characters: Type.Integer() })),
  replaced: Replaced,
  warnings: Type.Array(Warning),
  opted_out: Nullable(Type.Boolean({ description: 'Whether the recipient has opted out; null without `to`.' })),
  estimated_price: Type.Optional(
    Type.Union([MoneySchema, Type.Null()], { description: 'With `to`: what it would cost; null: no price is known.' }),
  ),
  routes: Type.Optional(
    Type.Array(Type.Object({ carrier: IdOf('car', 'The carrier.'), cost: Nullable(MoneySchema) }), {
      description: 'With `to`: the carriers in the order in which they would be tried, and their prices.',
    }),
  ),
})
