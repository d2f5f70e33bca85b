/** A message as tools show it, without fields that a model does not need. */
import type { Message } from '@heliogram/sdk'
import { z } from 'zod'
import { showNumber, Untrusted, untrusted, type Numbers } from './untrusted.ts'

export const Money = z.object({ amount: z.string(), currency: z.string() })

export const textMaxOfLists = 200

/** UTF-16 units: the API allows 1600 characters, of two units each. */
export const textMax = 3200

export const MessageShape = z.object({
  id: z.string(),
  direction: z.enum(['outbound', 'inbound']).describe("`inbound`: a person's reply."),
  status: z.string(),
  final: z.boolean().describe('No further change is expected.'),
  person: z
    .string()
    .nullable()
    .describe("The person's number; masked unless the server was started with --show-numbers."),
  our_number: z.string().nullable(),
  text: Untrusted.nullable().describe('Null: removed, or the key cannot read texts (messages:read_body).'),
  type: z.string().nullable(),
  campaign: z.string().nullable(),
  conversation: z.string().nullable(),
  segments: z.number(),
  error: z
    .object({
      code: z.string(),
      title: z.string(),
      advice: z.string(),
      permanent: z.boolean(),
      carrier_said: Untrusted.nullable(),
    })
    .nullable()
    .describe('Why it failed, or is unconfirmed.'),
  waits_for: z.string().nullable().describe('What it waits for, beyond its turn.'),
  carrier: z.string().nullable(),
  price: Money.nullable().describe('Its price, or estimated price.'),
  test: z.boolean(),
  created_at: z.string(),
  estimated_send_at: z.string().nullable(),
  sent_at: z.string().nullable(),
  completed_at: z.string().nullable(),
})

/** At most `most` characters of the text. */
export function showMessage(message: Message, numbers: Numbers, most = textMax): z.infer<typeof MessageShape> {
  const { direction, to, from, error, hold } = message
  const [person, ours] = direction === 'inbound' ? [from, to] : [to, from]
  const said = error ? [error.source.code, error.source.raw].filter((word) => word !== null).join(' ') : ''
  return {
    ...message,
    person: showNumber(person, numbers),
    our_number: ours,
    text: untrusted(message.message, most),
    type: message.type ?? null,
    conversation: message.conversation ?? null,
    error: error ? { ...error, carrier_said: untrusted(said || null, 200) } : null,
    waits_for: hold ? (hold.until === null ? hold.reason : `${hold.reason}, until ${hold.until}`) : null,
    carrier: message.route?.carrier ?? null,
    price: message.price ?? message.estimated_price ?? null,
    estimated_send_at: message.estimated_send_at ?? null,
    sent_at: message.sent_at ?? null,
    completed_at: message.completed_at ?? null,
  }
}
