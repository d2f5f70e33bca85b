import type { Broadcast, DryRun, OperationRequest } from '@heliogram/sdk'
import { newIdempotencyKey } from '@heliogram/sdk'
import { Command } from 'commander'
import type { Cli } from '../cli.ts'
import { exits, Failure, misused } from '../exit.ts'
import { readText } from '../input/given.ts'
import { readFuture } from '../input/moments.ts'
import { readPair, readWords } from '../input/pairs.ts'
import { lists, readCount } from '../terminal/list.ts'
import { note, say } from '../terminal/output.ts'
import { startProgress } from '../terminal/progress.ts'
import { paintStatus } from '../terminal/status.ts'
import { sayFacts, type Column } from '../terminal/table.ts'
import { safeJson } from '../terminal/text.ts'
import { localTime } from '../terminal/times.ts'

interface SendOptions {
  template?: string
  var?: Record<string, string>
  from?: string
  tag?: string[]
  at?: string
  rate?: number
  dryRun?: true
  yes?: true
  detach?: true
}

const columns: Column<Broadcast>[] = [
  { title: 'ID', of: ({ id }) => id },
  { title: 'STATUS', of: ({ status }) => status, paint: paintStatus },
  { title: 'RECIPIENTS', of: ({ recipients }) => recipients, isNumber: true },
  { title: 'REMAINING', of: ({ remaining }) => remaining, isNumber: true },
  { title: 'DELIVERED', of: ({ stats }) => stats?.delivered ?? null, isNumber: true },
  { title: 'FAILED', of: ({ stats }) => stats?.failed ?? null, isNumber: true },
  { title: 'REPLIES', of: ({ stats }) => stats?.replies ?? null, isNumber: true },
  { title: 'OPT-OUTS', of: ({ stats }) => stats?.opt_outs ?? null, isNumber: true, isExtra: true },
  { title: 'ORDERED', of: ({ created_at: at }) => localTime(at) },
  { title: 'TEXT', of: ({ message }) => message, isFlexible: true },
]

export function build(cli: Cli): Command {
  const command = new Command('broadcast')
  command
    .command('send <campaign> [text]')
    .summary('preview, confirm, send, and follow it to its end')
    .description(
      'Start a broadcast: first a preview, then a question, then its progress. Without a text it uses that of the campaign; "-" reads it from standard input.',
    )
    .option('--template <template>', 'a template, instead of a text')
    .option('--var <name=value>', 'a value for a merge field, the same for all', readPair)
    .option('--from <sender>', 'one of your senders')
    .option('--tag <tag>', 'only contacts with one of these tags', readWords)
    .option('--at <time>', 'when it starts: 2h, "2026-11-24 18:30"', readFuture)
    .option('--rate <number>', 'messages a minute at most', readCount)
    .option('--dry-run', 'only show the preview')
    .option('-y, --yes', 'do not ask')
    .option('--detach', 'do not follow it')
    .action(async (campaign: string, word: string | undefined, options: SendOptions) =>
      send(cli, campaign, word, options),
    )
  command
    .command('watch <broadcast>')
    .summary('follow one to its end')
    .action(async (id: string) => watch(cli, await cli.call('getBroadcast', { path: { id } })))
  command
    .command('get <broadcast>')
    .summary('one broadcast')
    .action(async (id: string) => sayBroadcast(cli, await cli.call('getBroadcast', { path: { id } })))
  lists(cli, command.command('list [campaign]').summary('broadcasts of a campaign, or of all'), {
    columns,
    empty: 'There are no broadcasts.',
    ask: (client, query, campaign: string | undefined) =>
      campaign === undefined
        ? client.call('listAllBroadcasts', { query })
        : client.call('listBroadcasts', { path: { campaign }, query }),
  })
  for (const [word, operation, summary] of [
    ['pause', 'pauseCampaign', 'nothing more is sent'],
    ['resume', 'resumeCampaign', 'continue from where it was'],
    ['cancel', 'cancelCampaign', 'cancel queued messages, and close the campaign'],
  ] as const)
    command
      .command(`${word} <campaign>`)
      .summary(summary)
      .action(async (campaign: string) => sayBroadcast(cli, await cli.call(operation, { path: { campaign } })))
  return command
}

async function send(cli: Cli, campaign: string, word: string | undefined, options: SendOptions): Promise<void> {
  const isAsked = !options.yes && !options.dryRun
  if (isAsked && (!process.stdin.isTTY || word === '-'))
    throw misused('There is no terminal for the question.', 'Preview with --dry-run first, then send with --yes.')
  const message = word === undefined ? undefined : await readText(word)
  const client = await cli.client()
  const { template, var: variables, from, tag, at, rate } = options
  const body: OperationRequest<'sendCampaign'>['body'] = {
    message,
    template,
    variables,
    from,
    send_at: at,
    max_rate: rate,
    audience: tag && { tags: tag },
  }
  const path = { campaign }
  if (!options.yes || options.dryRun) {
    const look = (await client.call('sendCampaign', { path, body: { ...body, dry_run: true } })) as DryRun
    if (options.dryRun && cli.isJson) return say(safeJson(look))
    await sayDryRun(look, cli.isJson || isAsked ? note : say)
    if (options.dryRun) return
    const { askWhether } = await import('../terminal/ask.ts')
    if (!(await askWhether(`Send ${look.messages} messages${at ? ` from ${localTime(at)}` : ' now'}?`)))
      throw new Failure(exits.interrupted, 'Nothing was sent.')
  }
  cli.whenInterrupted(() => `It is unknown whether it was started. Check first: heliogram broadcast list ${campaign}`)
  const ordered = (await client.call(
    'sendCampaign',
    { path, body },
    { idempotencyKey: newIdempotencyKey() },
  )) as Broadcast
  cli.whenInterrupted(null)
  if (options.detach || ['scheduled', 'awaiting_approval'].includes(ordered.status)) return sayBroadcast(cli, ordered)
  await watch(cli, ordered)
}

async function sayDryRun(look: DryRun, print: (line?: string) => unknown): Promise<void> {
  const { recipients, messages, segments, encodings, cost, skipped, sample } = look
  const facts = [
    ['recipients', recipients],
    ['messages', messages],
    [
      'segments',
      `${segments} (${encodings['GSM-7']} messages in GSM-7, ${encodings['UCS-2']} in UCS-2; ${look.segments_max} at most)`,
    ],
    ['cost', cost.map(({ amount, currency }) => `${amount} ${currency}`).join(' + ') || 'unknown'],
    ...Object.entries(skipped).map(([reason, count]) => [`no message: ${reason}`, count] as const),
    ['the first', sample],
  ] as const
  await sayFacts(facts, '', print)
}

async function watch(cli: Cli, first: Broadcast): Promise<void> {
  const client = await cli.client()
  const progress = startProgress()
  cli.whenInterrupted(
    () =>
      `It continues by itself. Follow it: heliogram broadcast watch ${first.id}. Stop it: heliogram broadcast pause ${first.campaign}.`,
  )
  let last = first
  while (['sending', 'paused'].includes(last.status)) {
    const done = last.recipients - last.remaining
    const skipped = Object.values(last.skipped).reduce((sum, count) => sum + count, 0)
    const state = last.hold ? `waits: ${last.hold.reason}, until ${localTime(last.hold.until)}` : last.status
    progress.show(
      `${state}: ${last.messages} messages of ${last.recipients}${last.expanded ? '' : '+'}, ${skipped} skipped`,
      last.recipients > 0 ? done / last.recipients : 0,
    )
    await new Promise((resolve) => setTimeout(resolve, 1000))
    last = await client.call('getBroadcast', { path: { id: first.id } })
  }
  progress.end()
  cli.whenInterrupted(null)
  await sayBroadcast(cli, last)
  if (!cli.isJson) note(`Receipts and replies will still arrive. To see them: heliogram broadcast get ${first.id}`)
  if (last.status !== 'completed') throw new Failure(exits.refused, `The broadcast is ${last.status}.`)
}

async function sayBroadcast(cli: Cli, one: Broadcast): Promise<void> {
  if (cli.isJson) return say(safeJson(one))
  await say(`${one.id}  ${paintStatus(one.status)}`)
  await sayFacts(
    [
      ['campaign', one.campaign],
      ['recipients', `${one.recipients}${one.expanded ? '' : ' so far'}`],
      ['messages', `${one.messages}, ${one.segments} segments`],
      ['remaining', one.remaining],
      ...Object.entries(one.skipped).map(([reason, count]) => [`no message: ${reason}`, count] as const),
      ...(one.stats ? resultsOf(one.stats) : []),
      ['begins', one.started_at === null ? localTime(one.send_at) : null],
      ['began', localTime(one.started_at)],
      ['over', localTime(one.completed_at)],
      ['waits for', one.hold ? `${one.hold.reason}, until ${localTime(one.hold.until)}` : null],
      ['text', one.message],
    ],
    '  ',
  )
}

const resultsOf = (stats: NonNullable<Broadcast['stats']>): [string, string | number | null][] => [
  ['queued', stats.queued],
  ['sent', stats.sent],
  ['delivered', stats.delivered],
  ['failed', stats.failed],
  ...Object.entries(stats.failures).map(([reason, count]): [string, number] => [`failed: ${reason}`, count]),
  ['unconfirmed', stats.unconfirmed],
  ['canceled', stats.canceled],
  ['replies', stats.replies],
  ['opt-outs', stats.opt_outs],
  ['clicks', stats.clicks],
  ['cost', stats.cost.map(({ amount, currency }) => `${amount} ${currency}`).join(' + ') || null],
]
