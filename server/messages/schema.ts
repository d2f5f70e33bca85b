/** Messages and their timeline, as documented. */
import { Type } from 'typebox'
import { IdOf, Nullable, Timestamp } from '../ground/http/http.ts'
import { MoneySchema } from '../ground/base/money.ts'
import { messageTypes, statuses } from '../message/message.ts'
import { OnUnknown, Warning } from '../message/send-schema.ts'

/** Members of one direction only are optional. */
export const Message = Type.Object(
  {
    id: IdOf('msg', 'Id of the message.'),
    object: Type.Literal('message'),
    direction: Type.Enum(['outbound', 'inbound']),
    status: Type.Enum([...statuses]),
    delivery_status: Nullable(Type.Enum(['Delivered', 'Failed'])),
    final: Type.Boolean({ description: 'No further change is expected.' }),
    to: Nullable(Type.String()),
    from: Nullable(Type.String()),
    message: Nullable(Type.String({ description: 'Null without the scope messages:read_body.' })),
    redacted: Type.Optional(
      Type.Boolean({ description: 'The text was removed, by request or by age. Otherwise absent.' }),
    ),
    text_unavailable: Type.Optional(
      Type.Boolean({
        description:
          'There is a text, but it cannot be decrypted: its key is missing, or it was changed. Otherwise absent.',
      }),
    ),
    campaign: Nullable(Type.String()),
    contact: Nullable(Type.String()),
    encoding: Type.Enum(['GSM-7', 'UCS-2']),
    segments: Type.Integer(),
    characters: Type.Integer({ description: 'Code points.' }),
    test: Type.Boolean(),
    sequence: Type.Integer({ description: 'Increases with every change; keep the highest.' }),
    created_at: Timestamp('When it was accepted or received.'),
    updated_at: Timestamp('When it last changed.'),
    keyword: Type.Optional(Nullable(Type.Enum(['stop', 'start', 'help']))),
    in_reply_to: Type.Optional(Nullable(Type.String())),
    partial: Type.Optional(Type.Boolean({ description: 'Parts of a long reply are missing.' })),
    octets: Type.Optional(
      Type.String({
        description:
          'The octets of a reply that do not match their declared encoding, in hexadecimal. Only in the response to a request for this message, with the scope messages:read_body.',
      }),
    ),
    conversation: Type.Optional(Nullable(Type.String({ description: 'Its conversation.' }))),
    type: Type.Optional(Type.Enum([...messageTypes])),
    automatic: Type.Optional(Type.Boolean({ description: 'Sent by Heliogram itself to confirm a keyword.' })),
    segments_delivered: Type.Optional(Type.Integer()),
    warnings: Type.Optional(Type.Array(Warning)),
    send_at: Type.Optional(Nullable(Type.String())),
    expires_at: Type.Optional(Nullable(Type.String())),
    estimated_send_at: Type.Optional(
      Nullable(
        Type.String({
          description: 'When it is expected to be sent; null: unknown, already final, or queued and in a list.',
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
        description: 'Number of submits to a carrier; refused connections do not count.',
      }),
    ),
    possible_duplicate: Type.Optional(
      Type.Boolean({ description: 'It was sent again after an unknown outcome: the recipient may have it twice.' }),
    ),
    on_unknown: Type.Optional(Nullable(OnUnknown)),
    price: Type.Optional(
      Type.Union([MoneySchema, Type.Null()], {
        description: 'The price of the carrier that accepted it; null: not sent yet, or no price is known.',
      }),
    ),
    estimated_price: Type.Optional(
      Type.Union([MoneySchema, Type.Null()], {
        description:
          'The expected cost at its acceptance, by the rate card of the first carrier of its route; null: unknown.',
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
        Type.Boolean({ description: 'It repeats an attempt whose outcome was unknown: the carrier may have both.' }),
      ),
    }),
  ),
})
