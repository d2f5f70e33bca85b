import type { Answer, Message } from '@heliogram/sdk'
import { z } from 'zod'
import { readMeanings } from '../refusal.ts'
import { defineReading, id, time, type Call } from '../tool.ts'

const Counts = z.object({
  messages: z.number(),
  delivered: z.number(),
  failed: z.number(),
  unconfirmed: z.number().describe('Their outcome is unknown.'),
  sent: z.number().describe('With the carrier, without a receipt yet.'),
  queued: z.number(),
})

const output = z.object({
  from: z.string(),
  to: z.string(),
  total: Counts,
  delivered_share: z
    .number()
    .nullable()
    .describe('Delivered messages as a share of final ones: 0 to 1. Null: none is final.'),
  by_error: z
    .array(
      z.object({
        code: z.string(),
        title: z.string().nullable(),
        advice: z.string().nullable(),
        permanent: z.boolean().nullable(),
        messages: z.number(),
        examples: z.array(z.string()).describe('Ids of messages, for explain_message.'),
      }),
    )
    .describe('Most frequent first.'),
  errors_examined: z
    .int()
    .nullable()
    .describe('The number of messages, the newest, that the errors are from; null: all. A campaign counts all.'),
  by_carrier: z.array(z.object({ carrier: z.string().nullable(), ...Counts.shape })).describe('Most failures first.'),
  by_country: z.array(z.object({ country: z.string().nullable(), ...Counts.shape })).describe('Most failures first.'),
})

type Row = Answer<'getUsage'>['data'][number]

const rowsMax = 20
const failing = 'undelivered,rejected,failed,expired,unconfirmed'
// Three of the largest pages: enough for meaningful shares, at three requests.
const examinedMax = { pages: 3, limit: 200 }

export const findDeliveryProblems = defineReading({
  name: 'find_delivery_problems',
  title: 'Find delivery problems',
  description:
    'Counts delivered and failed messages by error, carrier and country: of the account over the last day, of another period, or of one campaign. Use it for "why do messages fail?" and "is it one carrier, or one country?". For single messages use explain_message.',
  scopes: ['messages:read', 'usage:read'],
  input: z.strictObject({
    from: time.optional().describe('From the hour of this time; default: 24 hours ago. Such as 2026-11-23T08:00:00Z.'),
    to: time.optional().describe('To this time; default: now.'),
    campaign: id(
      'Id or key of a campaign, to count only its messages (needs campaigns:read)',
      'cmp_… or spring-sale',
    ).optional(),
  }),
  output,
  async read(call, { from, to, campaign }) {
    return campaign === undefined ? ofAccount(call, from ?? aDayAgo(), to) : ofCampaign(call, campaign, from, to)
  },
})

const aDayAgo = (): string => new Date(Date.now() - 86_400_000).toISOString()

async function ofAccount(call: Call, from: string, to: string | undefined): Promise<z.infer<typeof output>> {
  const { client, signal } = call
  const usage = await client.call('getUsage', { query: { from, to, group: 'carrier,country' } }, { signal })
  const span = { created_after: usage.from, created_before: usage.to }
  const examined: Message[] = []
  let cursor: string | undefined
  for (let page = 0; page < examinedMax.pages; page++) {
    const query = { ...span, status: failing, limit: examinedMax.limit, cursor }
    const { data, next_cursor } = await client.call('listMessages', { query }, { signal })
    examined.push(...data)
    if (next_cursor === null) break
    cursor = next_cursor
  }
  const byCode = Map.groupBy(examined, ({ error, status }) => error?.code ?? status)
  const errors = [...byCode].map(([code, messages]) => ({
    code,
    messages: messages.length,
    examples: messages.slice(0, 3).map(({ id }) => id),
  }))
  return {
    from: usage.from,
    to: usage.to,
    ...added(usage.total),
    by_error: await explained(call, errors),
    errors_examined: examined.length,
    by_carrier: groups(usage.data, 'carrier'),
    by_country: groups(usage.data, 'country'),
  }
}

async function ofCampaign(call: Call, campaign: string, from?: string, to?: string): Promise<z.infer<typeof output>> {
  const { client, signal } = call
  const ask = (group: 'error' | 'carrier' | 'country'): Promise<Answer<'getCampaignStats'>> =>
    client.call('getCampaignStats', { path: { campaign }, query: { from, to, group } }, { signal })
  const [errors, carriers, countries] = await Promise.all([ask('error'), ask('carrier'), ask('country')])
  const failed = errors.data.filter((row) => row.error != null && row.failed + row.unconfirmed + row.canceled > 0)
  return {
    from: errors.from,
    to: errors.to,
    ...added(errors.total),
    by_error: await explained(
      call,
      failed.map(({ error, messages }) => ({ code: error ?? '', messages, examples: [] })),
    ),
    errors_examined: null,
    by_carrier: groups(carriers.data, 'carrier'),
    by_country: groups(countries.data, 'country'),
  }
}

function added(total: Answer<'getUsage'>['total']): { total: z.infer<typeof Counts>; delivered_share: number | null } {
  const over = total.delivered + total.failed
  return { total: countsOf([total]), delivered_share: over === 0 ? null : Number((total.delivered / over).toFixed(4)) }
}

type CountName = keyof z.infer<typeof Counts>
const countNames = Object.keys(Counts.shape) as CountName[]

const countsOf = (rows: Pick<Row, CountName>[]): z.infer<typeof Counts> =>
  Object.fromEntries(countNames.map((name) => [name, rows.reduce((sum, row) => sum + row[name], 0)])) as z.infer<
    typeof Counts
  >

function groups<Key extends string>(
  rows: (Pick<Row, CountName> & { [key in Key]?: string | null })[],
  by: Key,
): (z.infer<typeof Counts> & { [key in Key]: string | null })[] {
  const problems = ({ failed, unconfirmed }: z.infer<typeof Counts>): number => failed + unconfirmed
  return [...Map.groupBy(rows, (row) => row[by] ?? null)]
    .map(([key, of]) => ({ [by]: key, ...countsOf(of) }) as z.infer<typeof Counts> & { [key in Key]: string | null })
    .sort((a, b) => problems(b) - problems(a) || b.messages - a.messages)
    .slice(0, rowsMax)
}

async function explained(
  { client, signal }: Call,
  errors: { code: string; messages: number; examples: string[] }[],
): Promise<z.infer<typeof output>['by_error']> {
  const meanings = errors.length === 0 ? [] : (await readMeanings(client, signal)).messages
  return errors
    .sort((a, b) => b.messages - a.messages)
    .slice(0, rowsMax)
    .map((error) => {
      const meaning = meanings.find(({ code }) => code === error.code)
      const { title = null, advice = null, permanent = null } = meaning ?? {}
      return { ...error, title, advice, permanent }
    })
}
