import type { Event } from '@heliogram/sdk'
import { Command } from 'commander'
import type { Cli } from '../cli.ts'
import { readWords } from '../input/pairs.ts'
import { lists } from '../terminal/list.ts'
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

export function build(cli: Cli): Command {
  const command = new Command('events')
  command
    .command('tail')
    .summary('follow events; --forward-to posts them to your own server')
    .description(
      'Shows events as they happen, until Ctrl-C. After a lost connection it continues from where it was.\n\nmessage.delivered, message.failed and message.received are always recorded, the others while a webhook of the account subscribes to them.\nWith --forward-to each event is posted to your own server, signed like a webhook. The secret is created once and stored with your logins.',
    )
    .option('--type <type>', 'only these types, separated by commas', readWords)
    .option('--message <message>', 'only of one message')
    .option('--after <event>', 'start after this event; "start": with the oldest')
    .option('--forward-to <url>', 'post each event there, such as http://localhost:3000/webhooks')
    .option('--print-secret', 'print the secret that signs forwarded events, and exit')
    .action(async (options: TailOptions) => tail(cli, options))
  lists(cli, command.command('list').summary('past events, newest first; kept for 30 days'), {
    columns,
    empty: 'No events match.',
    ask: (client, page, { type, message, failed }: Filters) =>
      client.call('listEvents', {
        query: { type: type?.join(','), message, delivery_success: failed && false, ...page },
      }),
  })
    .option('--type <type>', 'only these types, separated by commas', readWords)
    .option('--message <message>', 'of one message')
    .option('--failed', 'events that some address refused and has not accepted since')
  command
    .command('get <event>')
    .summary('an event, as it was posted')
    .action(async (id: string) => say(safeJson(await cli.call('getEvent', { path: { id } }), cli.isJson ? 0 : 2)))
  command
    .command('redeliver <event>')
    .summary('post an event again, to its original addresses')
    .action(async (id: string) => {
      const told = await cli.call('redeliverEvent', { path: { id } })
      await say(cli.isJson ? safeJson(told) : `${told.event}  ${told.posts} posts`)
    })
  return command
}
