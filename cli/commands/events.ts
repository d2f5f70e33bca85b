/** `heliogram events`. */
import type { Event } from '@heliogram/sdk'
import { Command } from 'commander'
import type { Cli } from '../cli.ts'
import { readWords } from '../input/pairs.ts'
import { sayList, takesLimit, type ListOptions } from '../terminal/list.ts'
import { say } from '../terminal/output.ts'
import type { Column } from '../terminal/table.ts'
import { safeJson } from '../terminal/text.ts'
import { localTime } from '../terminal/times.ts'
import { subjectOf, tail, type TailOptions } from './events-tail.ts'

const columns: Column<Event>[] = [
  { title: 'ID', of: ({ id }) => id },
  { title: 'AT', of: ({ timestamp }) => localTime(timestamp) },
  { title: 'TYPE', of: ({ type }) => type },
  { title: 'ABOUT', of: subjectOf, isFlexible: true },
]

interface Filters {
  type?: string[]
  message?: string
  failed?: true
}

/** The command. */
export function build(cli: Cli): Command {
  const command = new Command('events')
  command
    .command('tail')
    .summary('events as they happen; --forward-to posts them to a server of yours')
    .description(`Events as they happen, until Ctrl-C; after a lost connection it goes on where it was.

message.delivered, message.failed and message.received are always recorded, the others while a webhook of the account lists them.
With --forward-to each one is posted to a server of yours, signed as a webhook signs. The secret is made once and kept beside your logins.`)
    .option('--type <type>', 'only these types, parted by commas', readWords)
    .option('--message <message>', 'only of one message')
    .option('--after <event>', 'begin after this event; "start": with the oldest that is kept')
    .option('--forward-to <url>', 'post each event there, such as http://localhost:3000/webhooks')
    .option('--print-secret', 'print the secret that signs what is forwarded, and end')
    .action(async (options: TailOptions) => tail(cli, options))
  takesLimit(command.command('list').summary('what happened, newest first; 30 days are kept'))
    .option('--type <type>', 'only these types, parted by commas', readWords)
    .option('--message <message>', 'of one message')
    .option('--failed', 'what some address refused and has not taken since')
    .action(async ({ type, message, failed, ...options }: ListOptions & Filters) => {
      const client = await cli.client()
      const query = { type: type?.join(','), message, delivery_success: failed && false }
      await sayList((page) => client.call('listEvents', { query: { ...query, ...page } }), options, {
        isJson: cli.isJson,
        columns,
        empty: 'There are no such events.',
      })
    })
  command
    .command('get <event>')
    .summary('one, as it was posted')
    .action(async (id: string) =>
      say(safeJson(await (await cli.client()).call('getEvent', { path: { id } }), cli.isJson ? 0 : 2)),
    )
  command
    .command('redeliver <event>')
    .summary('post one again, to where it went')
    .action(async (id: string) => {
      const told = await (await cli.client()).call('redeliverEvent', { path: { id } })
      await say(cli.isJson ? safeJson(told) : `${told.event}  ${told.posts} posts`)
    })
  return command
}
