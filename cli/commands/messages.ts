import type { Message, OperationRequest } from '@heliogram/sdk'
import { Command, Option } from 'commander'
import type { Cli } from '../cli.ts'
import { readPast } from '../input/moments.ts'
import { readPair, readWords } from '../input/pairs.ts'
import { lists, readCount } from '../terminal/list.ts'
import { say } from '../terminal/output.ts'
import { saveAnswer } from '../terminal/save.ts'
import { paintStatus } from '../terminal/status.ts'
import { sayResource, type Column } from '../terminal/table.ts'
import { safeJson } from '../terminal/text.ts'
import { localTime } from '../terminal/times.ts'

type Query = NonNullable<OperationRequest<'listMessages'>['query']>

interface Filters {
  status?: string[]
  failed?: true
  inbound?: true
  number?: string
  to?: string
  from?: string
  campaign?: string
  contact?: string
  error?: string
  type?: 'otp' | 'transactional' | 'marketing'
  tag?: string
  metadata?: Record<string, string>
  since?: string
  until?: string
  segments?: number
  test?: true
}

export const messageColumns: Column<Message>[] = [
  { title: 'ID', of: ({ id }) => id },
  { title: 'CREATED', isExtra: true, of: ({ created_at }) => localTime(created_at) },
  { title: '', of: ({ direction }) => (direction === 'inbound' ? '←' : '→') },
  { title: 'NUMBER', of: ({ direction, from, to }) => (direction === 'inbound' ? from : to) },
  {
    title: 'STATUS',
    of: ({ status }) => status,
    paint: (text, { status }) => text.replace(status, paintStatus(status)),
  },
  { title: 'ERROR', of: ({ error }) => error?.code ?? '' },
  { title: 'TEXT', of: ({ message, redacted }) => message ?? (redacted ? '(removed)' : '–'), isFlexible: true },
]

export function build(cli: Cli): Command {
  const command = new Command('messages')
  lists(cli, takesFilters(command.command('list').summary('list messages, newest first')), {
    columns: messageColumns,
    empty: 'No messages match.',
    ask: (client, page, filters: Filters) => client.call('listMessages', { query: { ...queryOf(filters), ...page } }),
  })
  command
    .command('get <message>')
    .summary('a message with all its fields')
    .action(async (id: string) => sayResource(cli, await cli.call('getMessage', { path: { id } })))
  command
    .command('cancel <message...>')
    .summary('cancel queued and scheduled messages')
    .action(async (ids: string[]) => {
      for (const id of ids) {
        const message = await cli.call('cancelMessage', { path: { id } })
        await say(cli.isJson ? safeJson(message) : `${message.id}  ${paintStatus(message.status)}`)
      }
    })
  takesFilters(command.command('export').summary('all matching messages, oldest first'))
    .addOption(new Option('--format <format>', 'the format').choices(['ndjson', 'csv']).default('ndjson'))
    .option('-o, --output <file>', 'a file instead of standard output')
    .action(async ({ format, output, ...filters }: Filters & { format: 'ndjson' | 'csv'; output?: string }) => {
      const client = await cli.client()
      const answer = await client.open('exportMessages', { query: { ...queryOf(filters), format } })
      await saveAnswer(cli, answer, output)
    })
  return command
}

function takesFilters(command: Command): Command {
  return command
    .option('--status <status>', 'with one of these statuses, separated by commas', readWords)
    .option('--failed', 'failed, for any reason')
    .option('--inbound', 'replies; --from is then the person, --to your number')
    .option('--number <number>', 'to and from a person')
    .option('--to <number>', 'to this number')
    .option('--from <number>', 'from this number')
    .option('--campaign <campaign>', 'of a campaign, by id or key')
    .option('--contact <contact>', 'to and from a contact')
    .option('--error <code>', 'failed, or unconfirmed, for this reason')
    .addOption(new Option('--type <type>', 'of this type').choices(['otp', 'transactional', 'marketing']))
    .option('--tag <tag>', 'with this tag; needs another filter, or --since')
    .option('--metadata <name=value>', 'with this value; needs another filter, or --since', readPair)
    .option('--segments <number>', 'with at least this many segments; needs another filter, or --since', readCount)
    .option('--since <time>', 'created since then: 2h, 3d, 2026-11-24, "2026-11-24 18:30"', readPast)
    .option('--until <time>', 'created before then', readPast)
    .option('--test', 'sent in test mode')
}

function queryOf(filters: Filters): Query {
  const metadata = Object.entries(filters.metadata ?? {}).map(([name, value]) => [`metadata[${name}]`, value])
  return {
    status: filters.status?.join(','),
    delivery_status: filters.failed && 'Failed',
    direction: filters.inbound && 'inbound',
    number: filters.number,
    to: filters.to,
    from: filters.from,
    campaign: filters.campaign,
    contact: filters.contact,
    error_code: filters.error,
    type: filters.type,
    tag: filters.tag,
    created_after: filters.since,
    created_before: filters.until,
    segments_gte: filters.segments,
    test: filters.test,
    ...(Object.fromEntries(metadata) as Record<`metadata[${string}]`, string>),
  }
}
