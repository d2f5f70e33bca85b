import { broadcastStatuses, type Broadcast, type Campaign, type Import } from '@heliogram/sdk'
import { z } from 'zod'
import { Money } from '../message.ts'
import { bounded, maskNumbers, Untrusted, untrusted } from '../untrusted.ts'
import { campaign, defineReading, id, nextCursor, paging } from '../tool.ts'

const CampaignShape = z.object({
  id: z.string(),
  name: z.string(),
  key: z.string().nullable(),
  status: z.string(),
  type: z.string().nullable(),
  text: z.string().nullable(),
  template: z.string().nullable(),
  contacts: z.number(),
  tags: z.array(z.string()),
  created_at: z.string(),
})

const showCampaign = (one: Campaign): z.infer<typeof CampaignShape> => ({
  ...one,
  name: bounded(one.name, 120),
  text: one.message && bounded(one.message, 400),
  contacts: one.contacts_count,
})

export const listCampaigns = defineReading({
  name: 'list_campaigns',
  title: 'List campaigns',
  description: 'Lists campaigns, newest first. Use it to find the id of a campaign by its name.',
  scopes: ['campaigns:read'],
  input: z.strictObject(paging),
  output: z.object({ campaigns: z.array(CampaignShape), next_cursor: nextCursor }),
  async read({ client, signal }, query) {
    const page = await client.call('listCampaigns', { query }, { signal })
    return { campaigns: page.data.map(showCampaign), next_cursor: page.next_cursor }
  },
})

const Stats = z.object({
  recipients: z.number(),
  queued: z.number(),
  sent: z.number(),
  delivered: z.number(),
  failed: z.number(),
  failures: z.record(z.string(), z.number()).describe('Failed messages by reason.'),
  unconfirmed: z.number(),
  canceled: z.number(),
  replies: z.number(),
  opt_outs: z.number(),
  clicks: z.number(),
  segments: z.number(),
  skipped: z.record(z.string(), z.number()),
  cost: z.array(Money).describe('One amount for each currency; empty if no price is known.'),
})

export const BroadcastShape = z.object({
  id: z.string(),
  campaign: z.string(),
  status: z.string(),
  text: z.string(),
  recipients: z.number().describe('Recipients known so far; all of them once `expanded`.'),
  expanded: z.boolean(),
  messages: z.number().describe('Created so far.'),
  remaining: z.number().describe('Recipients whose turn has not come.'),
  segments: z.number(),
  skipped: z.record(z.string(), z.number()).describe('Recipients without a message, by reason.'),
  audience_tags: z.array(z.string()).nullable(),
  waits_for: z.string().nullable(),
  test: z.boolean(),
  send_at: z.string().nullable(),
  created_at: z.string(),
  started_at: z.string().nullable(),
  completed_at: z.string().nullable(),
  stats: Stats.nullable().describe('Its results; null in the result of an act.'),
})

export const showBroadcast = (one: Broadcast): z.infer<typeof BroadcastShape> => ({
  ...one,
  text: bounded(one.message, 400),
  audience_tags: one.audience?.tags ?? null,
  waits_for: one.hold && `${one.hold.reason}, until ${one.hold.until} (${one.hold.guard})`,
  send_at: one.send_at ?? one.send_at_local,
})

export const listBroadcasts = defineReading({
  name: 'list_broadcasts',
  title: 'List broadcasts',
  description:
    'Lists broadcasts of all campaigns with how far they are, newest first. Use it for what is being sent now (status=sending) or waits (paused, scheduled, awaiting_approval).',
  scopes: ['campaigns:read'],
  input: z.strictObject({ status: z.enum(broadcastStatuses).optional(), ...paging }),
  output: z.object({ broadcasts: z.array(BroadcastShape), next_cursor: nextCursor }),
  async read({ client, signal }, query) {
    const page = await client.call('listAllBroadcasts', { query }, { signal })
    return { broadcasts: page.data.map(showBroadcast), next_cursor: page.next_cursor }
  },
})

export const getCampaign = defineReading({
  name: 'get_campaign',
  title: 'Get a campaign',
  description:
    'Returns one campaign with its figures (sent, delivered, failed, replies, opt-outs, clicks, cost) and its newest broadcasts. For the reasons of failures use find_delivery_problems with this campaign, for its imports list_imports.',
  scopes: ['campaigns:read'],
  input: z.strictObject({ campaign }),
  output: z.object({ campaign: CampaignShape, stats: Stats.nullable(), broadcasts: z.array(BroadcastShape) }),
  async read({ client, signal }, path) {
    const [one, page] = await Promise.all([
      client.call('getCampaign', { path }, { signal }),
      client.call('listBroadcasts', { path, query: { limit: 10 } }, { signal }),
    ])
    return { campaign: showCampaign(one), stats: one.stats, broadcasts: page.data.map(showBroadcast) }
  },
})

const ImportShape = z.object({
  id: z.string(),
  campaign: z.string(),
  status: z.string(),
  format: z.string(),
  dry_run: z.boolean().describe('Dry run: nothing was written.'),
  progress: z.number().describe('The part of the file that was read: 0 to 1.'),
  counts: z.object({
    total: z.number().nullable(),
    processed: z.number(),
    created: z.number(),
    updated: z.number(),
    skipped: z.number(),
    duplicate: z.number(),
    opted_out: z.number(),
    failed: z.number().describe('Rows that were rejected; read_import lists them.'),
    hidden: z.number().describe('Rows hidden in the workbook, which were left out.'),
  }),
  failure: z.object({ code: z.string(), detail: z.string() }).nullable().describe('Why the whole file failed.'),
  created_at: z.string(),
  completed_at: z.string().nullable(),
})

const showImport = ({ failure, ...one }: Import): z.infer<typeof ImportShape> => ({
  ...one,
  failure: failure && { ...failure, detail: bounded(failure.detail, 400) },
})

export const listImports = defineReading({
  name: 'list_imports',
  title: 'List imports of a campaign',
  description:
    'Lists imports of contacts into a campaign, newest first, with the numbers of imported and rejected rows.',
  scopes: ['contacts:read'],
  input: z.strictObject({ campaign, ...paging }),
  output: z.object({ imports: z.array(ImportShape), next_cursor: nextCursor }),
  async read({ client, signal }, { campaign, ...query }) {
    const page = await client.call('listImports', { path: { campaign }, query }, { signal })
    return { imports: page.data.map(showImport), next_cursor: page.next_cursor }
  },
})

export const readImport = defineReading({
  name: 'read_import',
  title: 'Get an import and its rejected rows',
  description:
    'Returns one import with its progress, and its rejected rows: line, column, value, error and suggestion.',
  scopes: ['contacts:read'],
  input: z.strictObject({ import: id('Id of an import', 'imp_…'), ...paging }),
  output: z.object({
    import: ImportShape,
    rejected: z.array(
      z.object({
        line: z.number(),
        column: z.string().nullable(),
        value: Untrusted.nullable(),
        code: z.string(),
        detail: z.string(),
        suggestion: z.string().nullable(),
      }),
    ),
    next_cursor: nextCursor,
  }),
  async read({ client, signal, numbers }, { import: id, ...query }) {
    const path = { import: id }
    const [one, page] = await Promise.all([
      client.call('getImport', { path }, { signal }),
      client.call('listImportErrors', { path, query }, { signal }),
    ])
    return {
      import: showImport(one),
      rejected: page.data.map((one) => ({
        ...one,
        column: one.column && bounded(one.column, 60),
        value: untrusted(one.value && maskNumbers(one.value, numbers), 100),
        detail: bounded(maskNumbers(one.detail, numbers), 300),
        suggestion: one.suggestion && bounded(maskNumbers(one.suggestion, numbers), 100),
      })),
      next_cursor: page.next_cursor,
    }
  },
})
