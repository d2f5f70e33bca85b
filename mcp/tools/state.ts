import { HeliogramError, type Client } from '@heliogram/sdk'
import { z } from 'zod'
import { maskNumbers, Untrusted, untrusted } from '../untrusted.ts'
import { defineReading, type Call } from '../tool.ts'

const Health = z.object({
  status: z.string().describe('ok, degraded or failing.'),
  version: z.string().nullable(),
  troubles: z.array(z.string()).describe('Checks that fail.'),
})
const Account = z.object({
  name: z.string(),
  status: z.string(),
  mode: z.string().describe('live, or test: a test key reaches no phone.'),
  default_sender: z.string().nullable(),
  timezone: z.string(),
  allowed_countries: z.array(z.string()),
  quiet_hours: z.string().nullable(),
  segments_today: z.number().nullable(),
  daily_segments: z.number().nullable().describe('The limit; null: none.'),
  spent_today: z.string().nullable(),
  daily_spend_limit: z.string().nullable(),
  webhooks: z.object({ endpoints: z.number(), failing: z.number(), disabled: z.number() }),
})
const Alert = z.object({
  type: z.string(),
  about: z.string().describe('The link, sender or webhook.'),
  opened_at: z.string(),
  last_error: Untrusted.nullable(),
})
const Link = z.object({ carrier: z.string(), link: z.string(), state: z.string(), rate_1m: z.number() })
const Queue = z.object({
  messages: z.number(),
  segments: z.number(),
  oldest_age_seconds: z.number().nullable(),
  delayed: z.number().describe('Messages that wait for a time: scheduled ones and retries.'),
  next_due_at: z.string().nullable(),
})
const Guard = z.object({
  id: z.string(),
  kind: z.string(),
  key: z.string().nullable(),
  limit: z.string().nullable(),
  refused: z.number(),
  until: z.string(),
})

const Now = z.object({
  messages_a_second: z.record(z.string(), z.number()).describe('Accepted, sent, delivered, failed and replies.'),
  in_progress: z.record(z.string(), z.number()),
  unread_conversations: z.number(),
  broadcasts: z
    .array(
      z.object({
        id: z.string(),
        campaign: z.string(),
        status: z.string(),
        recipients: z.number(),
        left: z.number(),
        eta_seconds: z.number().nullable(),
      }),
    )
    .nullable(),
  attention: z
    .array(
      z.object({
        type: z.string(),
        subject: z.string().nullable(),
        count: z.number().nullable(),
        since: z.string().nullable(),
      }),
    )
    .describe('What somebody should look at: what the key may see of it.'),
})

const output = z.object({
  health: Health,
  account: Account.nullable(),
  now: Now.nullable(),
  alerts: z.array(Alert).nullable().describe('Open alerts.'),
  links: z.array(Link).nullable(),
  queue: Queue.nullable(),
  guards: z.array(Guard).nullable().describe('Limits that stop messages now.'),
  not_visible: z.array(z.string()).describe('What the key cannot see: its null here means unknown, not none.'),
})
type State = z.infer<typeof output>

export const getState = defineReading({
  name: 'get_state',
  title: 'Get the state of the installation',
  description:
    'How is Heliogram doing? Returns health, the account with its use of limits, messages a second, running broadcasts, what needs attention, open alerts, links to carriers, the queue, and limits that stop messages. Use it first if something is wrong.',
  scopes: [],
  input: z.strictObject({}),
  output,
  async read(call) {
    const notVisible: string[] = []
    const ask = async <T>(what: string, asked: Promise<T>): Promise<T | null> => {
      try {
        return await asked
      } catch (error) {
        if (!(error instanceof HeliogramError && error.code === 'insufficient_scope')) throw error
        notVisible.push(what)
        return null
      }
    }
    const [health, account, now, alerts, links, queue, guards] = await Promise.all([
      readHealth(call.client, call.signal),
      ask('account', readAccount(call)),
      ask('now', readNow(call)),
      ask('alerts', readAlerts(call)),
      ask('links', readLinks(call)),
      ask('queue', readQueue(call)),
      ask('guards', readGuards(call)),
    ])
    return { health, account, now, alerts, links, queue, guards, not_visible: notVisible.sort() }
  },
})

async function readHealth(client: Client, signal: AbortSignal): Promise<State['health']> {
  try {
    const { status, version, checks } = await client.call('getHealth', {}, { signal, retries: 0 })
    const failing = Object.entries(checks).filter(([, { ok }]) => !ok)
    return { status, version, troubles: failing.map(([name, check]) => `${name}: ${JSON.stringify(check)}`) }
  } catch (error) {
    // A failing service responds with 503.
    if (error instanceof HeliogramError && error.status === 503)
      return { status: 'failing', version: null, troubles: ['GET /healthz returns 503'] }
    throw error
  }
}

async function readAccount({ client, signal }: Call): Promise<State['account']> {
  const settings = await client.call('getSettings', {}, { signal })
  const { quiet_hours: quiet, limits, spend } = settings
  return {
    ...settings,
    ...limits,
    name: settings.account.name,
    status: settings.account.status,
    quiet_hours: quiet.enabled ? `${quiet.start} to ${quiet.end} for ${quiet.applies_to.join(', ')}` : null,
    spent_today: spend.spent_today && `${spend.spent_today} ${spend.currency ?? ''}`.trim(),
    daily_spend_limit: spend.daily_limit && `${spend.daily_limit} ${spend.currency ?? ''}`.trim(),
  }
}

async function readNow({ client, signal, numbers }: Call): Promise<State['now']> {
  const summary = await client.call('getSummary', {}, { signal })
  return {
    ...summary,
    messages_a_second: summary.rates,
    broadcasts:
      summary.broadcasts?.map(({ stats, campaign, ...one }) => ({
        ...one,
        campaign: campaign.name,
        recipients: stats.recipients,
        left: stats.queued,
      })) ?? null,
    attention: summary.attention.map((one) => ({ ...one, subject: one.subject && maskNumbers(one.subject, numbers) })),
  }
}

async function readAlerts({ client, signal, numbers }: Call): Promise<State['alerts']> {
  const { data } = await client.call('listAlerts', { query: { status: 'open', limit: 20 } }, { signal })
  return data.map((alert) => ({
    ...alert,
    about: [alert.carrier?.name, alert.link, alert.sender, alert.webhook].filter((word) => word != null).join(' '),
    last_error: untrusted(alert.last_error && maskNumbers(alert.last_error, numbers), 200),
  }))
}

async function readLinks({ client, signal }: Call): Promise<State['links']> {
  const { data } = await client.call('listCarriers', {}, { signal })
  const links = data.flatMap(({ name, links }) => links.map((link) => ({ ...link, carrier: name, link: link.id })))
  return links.slice(0, 50)
}

async function readQueue({ client, signal }: Call): Promise<State['queue']> {
  const queue = await client.call('getQueue', {}, { signal })
  const { messages: delayed, next_due_at } = queue.delayed
  const oldest = Math.max(-1, ...queue.parts.map((part) => part.oldest_age_seconds ?? -1))
  return { ...queue, oldest_age_seconds: oldest < 0 ? null : oldest, delayed, next_due_at }
}

async function readGuards({ client, signal }: Call): Promise<State['guards']> {
  const { data } = await client.call('listGuards', { query: { limit: 20 } }, { signal })
  return data.filter((guard) => guard.released_at === null).map((guard) => ({ ...guard, refused: guard.count }))
}
