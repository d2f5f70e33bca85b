import { messageStatuses, type Answer } from '@heliogram/sdk'
import { z } from 'zod'
import { Money, MessageShape, showMessage, textMax, textMaxOfLists } from '../message.ts'
import { maskNumbers, bounded } from '../untrusted.ts'
import { campaign, defineReading, id, messageType, nextCursor, paging, phoneNumber, time } from '../tool.ts'

export const searchMessages = defineReading({
  name: 'search_messages',
  title: 'Search messages',
  description:
    'Finds messages, newest first, by number, status, error, campaign, tag or time. Use it to find the message that a person asks about; explain_message then shows what happened to it.',
  scopes: ['messages:read'],
  input: z.strictObject({
    number: phoneNumber.optional().describe('The person: messages to and from their number. Such as 15551234567.'),
    direction: z.enum(['outbound', 'inbound']).optional().describe("`inbound`: people's replies."),
    status: z
      .array(z.enum(messageStatuses))
      .min(1)
      .max(12)
      .optional()
      .describe('One of these, such as ["failed","undelivered"].'),
    error_code: z.string().max(64).optional().describe('Why it failed, such as unknown_subscriber.'),
    campaign: campaign.optional(),
    tag: z.string().max(64).optional(),
    type: messageType.optional(),
    created_after: time.optional(),
    created_before: time.optional(),
    ...paging,
  }),
  output: z.object({ messages: z.array(MessageShape), next_cursor: nextCursor }),
  async read({ client, signal, numbers }, { status, ...filters }) {
    const query = { ...filters, status: status?.join(',') }
    const page = await client.call('listMessages', { query }, { signal })
    return {
      messages: page.data.map((message) => showMessage(message, numbers, textMaxOfLists)),
      next_cursor: page.next_cursor,
    }
  },
})

// The start shows the routing, the end the outcome; a message retried for days has hundreds between.
const decisionsMax = { first: 20, last: 30 }

export const explainMessage = defineReading({
  name: 'explain_message',
  title: 'Explain a message',
  description:
    'Why has a message not arrived, or what happened to it? Returns the message with its status and error, their meaning and what to do, and every decision in order of time: country, sender, route, holds, submits, responses, retries, receipts. Use it for any question about one message.',
  scopes: ['messages:read'],
  input: z.strictObject({ message: id('Id of a message', 'msg_01m7xz77bve00s669tvh3kn68p') }),
  output: z.object({
    message: MessageShape,
    decisions: z.array(
      z.object({
        at: z.string(),
        step: z.string(),
        decision: z.string().nullable(),
        rule: z.string().nullable().describe("The rule: an id, a code, or the carrier's word."),
        detail: z.string(),
        segment: z.number().nullable(),
        try: z.number().nullable(),
        carrier: z.string().nullable(),
        carrier_message_id: z.string().nullable(),
        possible_duplicate: z.boolean(),
      }),
    ),
    decisions_left_out: z.number().describe('Steps left out in the middle, if there are very many.'),
  }),
  async read({ client, signal, numbers }, { message: id }) {
    const [message, { decisions }] = await Promise.all([
      client.call('getMessage', { path: { id } }, { signal }),
      client.call('explainMessage', { path: { id } }, { signal }),
    ])
    const { first, last } = decisionsMax
    const kept =
      decisions.length <= first + last ? decisions : [...decisions.slice(0, first), ...decisions.slice(-last)]
    const shown = showMessage(message, numbers)
    const plain = (text: string | null): string | null =>
      text && bounded(maskNumbers(text, numbers, shown.our_number), 400)
    return {
      message: shown,
      decisions: kept.map((one) => ({
        ...one,
        decision: plain(one.decision),
        rule: plain(one.rule),
        detail: plain(one.detail) ?? '',
        segment: one.segment ?? null,
        try: one.try ?? null,
        carrier: one.carrier ?? null,
        carrier_message_id: one.carrier_message_id ?? null,
        possible_duplicate: one.possible_duplicate ?? false,
      })),
      decisions_left_out: decisions.length - kept.length,
    }
  },
})

export const PreviewShape = z.object({
  to: z.string().nullable().describe('As in the request.'),
  text: z.string().describe('As it would be sent.'),
  encoding: z.string(),
  characters: z.number(),
  segments: z.number().describe('What carriers count and charge.'),
  warnings: z.array(z.object({ code: z.string(), detail: z.string() })),
  opted_out: z
    .boolean()
    .nullable()
    .describe('Whether the recipient has opted out: nothing would be sent. Null without a recipient.'),
  estimated_price: Money.nullable().describe('Null: no price is known.'),
})

export const showPreview = (preview: Answer<'previewMessage'>): z.infer<typeof PreviewShape> => ({
  ...preview,
  text: preview.message,
  estimated_price: preview.estimated_price ?? null,
})

export const previewMessage = defineReading({
  name: 'preview_message',
  title: 'Preview a text',
  description:
    'Shows how many segments a text needs, in which encoding, and which characters make it expensive; with a recipient also the price and whether they have opted out. Sends nothing. Use it while you write texts.',
  scopes: ['messages:read'],
  input: z.strictObject({
    text: z.string().min(1).max(textMax).describe('The text, at most 1600 characters.'),
    to: phoneNumber.optional(),
    type: messageType.optional().describe('Its purpose.'),
  }),
  output: PreviewShape,
  async read({ client, signal }, { text, to, type }) {
    return showPreview(await client.call('previewMessage', { body: { message: text, to, type } }, { signal }))
  },
})
