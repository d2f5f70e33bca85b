import type { Conversation } from '@heliogram/sdk'
import { Command } from 'commander'
import type { Cli } from '../cli.ts'
import { lists } from '../terminal/list.ts'
import { paint } from '../terminal/output.ts'
import type { Column } from '../terminal/table.ts'
import { localTime } from '../terminal/times.ts'
import { messageColumns } from './messages.ts'

interface Filters {
  unread?: true
  campaign?: string
  ours?: string
  theirs?: string
}

const columns: Column<Conversation>[] = [
  { title: 'ID', of: ({ id }) => id },
  { title: 'LAST REPLY', isExtra: true, of: ({ last_reply_at: at }) => localTime(at) },
  { title: 'THEY', of: ({ their_number: number }) => number },
  { title: 'WE', isExtra: true, of: ({ our_number: number }) => number },
  {
    title: 'UNREAD',
    of: ({ unread }) => unread,
    isNumber: true,
    paint: (text, { unread }) => (unread > 0 ? paint('yellow', text) : text),
  },
  {
    title: 'LAST',
    of: ({ last_message: last }) => last && `${last.direction === 'inbound' ? '←' : '→'} ${last.message ?? '–'}`,
    isFlexible: true,
  },
]

export function build(cli: Cli): Command {
  const command = new Command('conversations')
  lists(cli, command.command('list').summary('sorted by the last reply'), {
    columns,
    empty: 'No conversations match.',
    ask: (client, page, { unread, campaign, ours, theirs }: Filters) =>
      client.call('listConversations', {
        query: { unread, campaign, our_number: ours, their_number: theirs, ...page },
      }),
  })
    .option('--unread', 'conversations with unread replies')
    .option('--campaign <campaign>', 'replies to a campaign')
    .option('--ours <number>', 'conversations with this number of yours')
    .option('--theirs <number>', 'conversations with this person')
  lists(cli, command.command('get <conversation>').summary('its messages in both directions, newest first'), {
    columns: messageColumns,
    empty: 'It has no messages.',
    ask: (client, query, conversation: string) =>
      client.call('listConversationMessages', { path: { conversation }, query }),
  })
  return command
}
