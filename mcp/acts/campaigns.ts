import type { Broadcast } from '@heliogram/sdk'
import { z } from 'zod'
import { defineActing } from '../acting.ts'
import { Money, textMax } from '../message.ts'
import { Untrusted, untrusted } from '../untrusted.ts'
import { campaign, id, messageType, time, type Call, type Tool } from '../tool.ts'
import { BroadcastShape, showBroadcast } from '../tools/campaigns.ts'

const order = z.strictObject({
  campaign,
  text: z
    .string()
    .min(1)
    .max(textMax)
    .optional()
    .describe('The text, with fields such as {{ first_name | default: "there" }}; default: that of the campaign.'),
  template: id('Id or name of a template, instead of `text`', 'order-shipped').optional(),
  tags: z
    .array(z.string().min(1).max(64))
    .min(1)
    .max(50)
    .optional()
    .describe('Contacts with one of these tags; default: all.'),
  from: z.string().max(20).optional().describe('One of the senders of the account.'),
  type: messageType.optional().describe("Default: the campaign's type, then marketing."),
  send_at: time.optional().describe('When it starts; default: now. Such as 2026-11-23T08:00:00Z.'),
  max_rate: z.int().min(1).optional().describe('Messages a minute at most.'),
})

export const startBroadcast = defineActing({
  name: 'start_broadcast',
  title: 'Start a broadcast',
  description:
    'Sends a text to all contacts of a campaign, or to those with a tag; each gets one message. The preview shows how many would get it, in how many segments, at what cost, and who would not and why. It may need approval by a second person, depending on the account.',
  scopes: ['campaigns:write', 'campaigns:read', 'contacts:read'],
  isDestructive: true,
  isPlannedAgain: true,
  reachesOut: true,
  input: order,
  effect: z.object({
    recipients: z.number(),
    messages: z.number(),
    segments: z.number(),
    segments_max: z.number().describe('Of the longest message.'),
    cost: z.array(Money).describe('One amount for each currency; empty if no price is known.'),
    skipped: z.record(z.string(), z.number()).describe('Contacts that would get nothing, by reason.'),
    sample: Untrusted.nullable().describe('The text for the first recipient, with the values of that contact in it.'),
    send_at: z.string().nullable(),
  }),
  result: BroadcastShape,
  async plan({ client, signal }, args) {
    const request = { path: { campaign: args.campaign }, body: { ...orderOf(args), dry_run: true } }
    const dry = await client.call('sendCampaign', request, { signal })
    if (dry.object !== 'dry_run') throw new TypeError('a dry run answered a broadcast')
    return {
      effect: { ...dry, sample: untrusted(dry.sample), send_at: args.send_at ?? null },
      recipients: dry.messages,
      blocked: dry.messages === 0 ? 'No contact would get it.' : null,
    }
  },
  async perform({ client }, args, options) {
    const request = { path: { campaign: args.campaign }, body: orderOf(args) }
    const broadcast = await client.call('sendCampaign', request, options)
    if (broadcast.object !== 'broadcast') throw new TypeError('an order answered a dry run')
    return showBroadcast(broadcast)
  },
})

const orderOf = ({ text, template, tags, from, type, send_at, max_rate }: z.output<typeof order>) => ({
  message: text,
  template,
  audience: tags && { tags },
  from,
  type,
  send_at,
  max_rate,
})

const Moving = z.object({
  broadcast: BroadcastShape.nullable().describe('The newest broadcast of the campaign.'),
  waiting: z.number().describe('Queued messages and remaining recipients.'),
})

/** The newest broadcast of a campaign, and the campaign's queued messages. */
async function readMoving(
  { client, signal }: Call,
  campaign: string,
): Promise<{ broadcast: Broadcast | null; waiting: number }> {
  const path = { campaign }
  const [{ stats }, { data }] = await Promise.all([
    client.call('getCampaign', { path }, { signal }),
    client.call('listBroadcasts', { path, query: { limit: 1 } }, { signal }),
  ])
  const broadcast = data[0] ?? null
  // Before it begins, its recipients have no messages yet.
  const toCome = broadcast
    ? broadcast.expanded
      ? broadcast.remaining
      : Math.max(broadcast.remaining, broadcast.recipients - broadcast.messages)
    : 0
  return { broadcast, waiting: toCome + (stats?.queued ?? 0) }
}

const moves = [
  {
    verb: 'pause',
    operation: 'pauseCampaign',
    from: ['sending', 'scheduled'],
    about: 'Pauses the broadcast of a campaign: nothing more is sent until it is resumed.',
  },
  {
    verb: 'resume',
    operation: 'resumeCampaign',
    from: ['paused'],
    about: 'Resumes the paused broadcast of a campaign: queued messages are sent.',
  },
  {
    verb: 'cancel',
    operation: 'cancelCampaign',
    from: ['awaiting_approval', 'scheduled', 'sending', 'paused'],
    about:
      'Cancels the broadcast of a campaign and closes the campaign permanently: queued messages are canceled, messages that a carrier has remain sent.',
  },
] as const

export const moveCampaign: readonly Tool[] = moves.map(({ verb, operation, from, about }) =>
  defineActing({
    name: `${verb}_campaign`,
    title: `${verb.slice(0, 1).toUpperCase()}${verb.slice(1)} a campaign`,
    description: about,
    scopes: ['campaigns:write', 'campaigns:read'],
    isDestructive: verb !== 'pause',
    isPlannedAgain: true,
    reachesOut: verb === 'resume',
    input: z.strictObject({ campaign }),
    effect: Moving,
    result: BroadcastShape,
    async plan(call, args) {
      const { broadcast, waiting } = await readMoving(call, args.campaign)
      const isReady = broadcast !== null && from.some((status) => status === broadcast.status)
      return {
        effect: { broadcast: broadcast && showBroadcast(broadcast), waiting },
        recipients: verb === 'resume' ? waiting : 0,
        about: broadcast?.id ?? '',
        blocked: isReady
          ? null
          : `The campaign has no broadcast that is ${from.join(' or ')}${broadcast ? `; its newest is ${broadcast.status}` : ''}.`,
      }
    },
    async perform({ client }, path, options) {
      return showBroadcast(await client.call(operation, { path }, options))
    },
  }),
)
