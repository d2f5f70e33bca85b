import { z } from 'zod'
import { defineActing } from '../acting.ts'
import { MessageShape, showMessage, textMax } from '../message.ts'
import { Refusal } from '../refusal.ts'
import { showNumber } from '../untrusted.ts'
import { id, messageType, phoneNumber, time, type Call } from '../tool.ts'
import { PreviewShape, showPreview } from '../tools/messages.ts'

const text = z
  .string()
  .min(1)
  .max(textMax)
  .optional()
  .describe('The text, at most 1600 characters; this or `template`.')
const template = id('Id or name of a template, instead of `text`', 'order-shipped').optional()
const variables = z
  .record(z.string(), z.union([z.string(), z.number(), z.boolean()]))
  .optional()
  .describe('Values for the fields of the template, such as {"order":"A-17"}.')
const type = messageType.optional().describe('Its purpose.')
const sendAt = time.optional().describe('When to send it; default: now. Such as 2026-11-23T08:00:00Z.')

interface Written {
  text?: string | undefined
  template?: string | undefined
  variables?: Record<string, string | number | boolean> | undefined
  type?: 'transactional' | 'marketing' | 'otp' | undefined
}

/** Renders a text or a template for a recipient. @throws Refusal for neither or both */
async function preview(
  { client, signal }: Call,
  to: string,
  { from, campaign, ...written }: Written & { from?: string | undefined; campaign?: string | undefined },
): Promise<z.infer<typeof PreviewShape> & { from: string | null; campaign: string | null }> {
  const { text, template } = written
  if ((text === undefined) === (template === undefined))
    throw new Refusal('invalid_arguments', 'A message has either a `text` or a `template`.', 'Give one of them.')
  const body = { ...bodyOf(written), to, from, campaign }
  const answer = await client.call('previewMessage', { body }, { signal })
  return { ...showPreview(answer), from: answer.from, campaign: answer.campaign }
}

const bodyOf = ({ text, template, variables, type }: Written) => ({ message: text, template, variables, type })

const optedOut = ({ opted_out }: z.infer<typeof PreviewShape>): string | null =>
  opted_out === true ? 'The person has opted out: nothing can be sent to them.' : null

const Sending = PreviewShape.extend({
  from: z.string().nullable().describe('Its sender; null: none, or not known yet.'),
  campaign: z.string().nullable(),
  send_at: z.string().nullable().describe('Null: at once.'),
  recipients: z.number(),
})

export const sendMessage = defineActing({
  name: 'send_message',
  title: 'Send a message',
  description:
    'Sends a text to one person. The preview shows the final text, its segments, price and sender, and whether the person has opted out; limits and allowed countries are checked when it is sent. To reply to a person who sent a message, use reply_in_conversation.',
  scopes: ['messages:write', 'messages:read'],
  isDestructive: true,
  reachesOut: true,
  input: z.strictObject({
    to: phoneNumber,
    text,
    template,
    variables,
    from: z.string().max(20).optional().describe('One of the senders of the account; default: its default sender.'),
    campaign: id('Id or key of a campaign that it belongs to', 'cmp_… or spring-sale').optional(),
    type,
    send_at: sendAt,
  }),
  effect: Sending,
  result: MessageShape,
  async plan(call, args) {
    const { to, send_at = null } = args
    const shown = await preview(call, to, args)
    const effect = { ...shown, to, send_at, recipients: 1 }
    return { effect, recipients: 1, blocked: optedOut(shown) }
  },
  async perform({ client, numbers }, args, options) {
    const { to, from, campaign, send_at } = args
    const body = { ...bodyOf(args), to, from, campaign, send_at }
    return showMessage(await client.call('sendMessage', { body }, options), numbers)
  },
})

export const replyInConversation = defineActing({
  name: 'reply_in_conversation',
  title: 'Reply in a conversation',
  description: 'Replies to a person in their conversation, from the number that they sent their message to.',
  scopes: ['messages:write', 'messages:read'],
  isDestructive: true,
  reachesOut: true,
  input: z.strictObject({ conversation: id('Id of a conversation', 'cnv_…'), text, template, variables, type }),
  effect: Sending,
  result: MessageShape,
  async plan(call, args) {
    const { client, signal, numbers } = call
    const one = await client.call('getConversation', { path: { conversation: args.conversation } }, { signal })
    const shown = await preview(call, one.their_number, args)
    return {
      effect: {
        ...shown,
        to: showNumber(one.their_number, numbers),
        from: one.our_number,
        campaign: one.campaign,
        send_at: null,
        recipients: 1,
      },
      recipients: 1,
      blocked: optedOut(shown),
    }
  },
  async perform({ client, numbers }, { conversation, ...args }, options) {
    const request = { path: { conversation }, body: bodyOf(args) }
    return showMessage(await client.call('replyInConversation', request, options), numbers)
  },
})

export const cancelMessage = defineActing({
  name: 'cancel_message',
  title: 'Cancel a message',
  description: 'Cancels a scheduled or queued message, which no carrier has yet.',
  scopes: ['messages:write', 'messages:read'],
  isDestructive: true,
  reachesOut: false,
  input: z.strictObject({ message: id('Id of a message', 'msg_01m7xz77bve00s669tvh3kn68p') }),
  effect: z.object({ message: MessageShape }),
  result: MessageShape,
  async plan({ client, signal, numbers }, { message: id }) {
    const message = await client.call('getMessage', { path: { id } }, { signal })
    const isWaiting = ['scheduled', 'queued'].includes(message.status)
    return {
      effect: { message: showMessage(message, numbers) },
      recipients: 0,
      blocked: isWaiting
        ? null
        : `The message is ${message.status}: only a scheduled or queued message can be canceled.`,
    }
  },
  async perform({ client, numbers }, { message: id }, options) {
    return showMessage(await client.call('cancelMessage', { path: { id } }, options), numbers)
  },
})
