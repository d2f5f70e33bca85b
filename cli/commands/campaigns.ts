import type { Campaign } from '@heliogram/sdk'
import { Command, Option } from 'commander'
import type { Cli } from '../cli.ts'
import { readPast } from '../input/moments.ts'
import { readWords } from '../input/pairs.ts'
import { lists } from '../terminal/list.ts'
import { sayStats } from '../terminal/stats.ts'
import { paintStatus } from '../terminal/status.ts'
import { sayResource, type Column } from '../terminal/table.ts'
import { localTime } from '../terminal/times.ts'

interface Draft {
  key?: string
  message?: string
  from?: string
  type?: 'otp' | 'transactional' | 'marketing'
  country?: string
  timezone?: string
  tag?: string[]
}

interface StatsOptions {
  group?: 'hour' | 'country' | 'carrier' | 'error' | 'segments'
  since?: string
  broadcast?: string
}

const columns: Column<Campaign>[] = [
  { title: 'ID', isExtra: true, of: ({ id }) => id },
  { title: 'KEY', of: ({ key }) => key },
  { title: 'NAME', of: ({ name }) => name, isFlexible: true },
  { title: 'STATUS', of: ({ status }) => status, paint: paintStatus },
  { title: 'TYPE', isExtra: true, of: ({ type }) => type },
  { title: 'CONTACTS', of: ({ contacts_count: count }) => count, isNumber: true },
  { title: 'MADE', isExtra: true, of: ({ created_at: at }) => localTime(at) },
]

export function build(cli: Cli): Command {
  const command = new Command('campaigns')
  lists(cli, command.command('list').summary('newest first'), {
    columns,
    empty: 'There are no campaigns. Create one with "heliogram campaigns create <name>".',
    ask: (client, query) => client.call('listCampaigns', { query }),
  })
  command
    .command('get <campaign>')
    .summary('a campaign, by id or key, with its counts')
    .action(async (campaign: string) => sayResource(cli, await cli.call('getCampaign', { path: { campaign } })))
  command
    .command('create <name>')
    .summary('create a campaign')
    .option('--key <key>', 'your own short name, usable instead of its id')
    .option('--message <text>', 'the text of its broadcasts, with merge fields: "Hello {{ first_name }}"')
    .option('--from <sender>', 'one of your senders')
    .addOption(new Option('--type <type>', 'of its messages').choices(['otp', 'transactional', 'marketing']))
    .option('--country <code>', 'the country of numbers without a country code, such as US')
    .option('--timezone <zone>', 'such as Europe/Berlin')
    .option('--tag <tag>', 'for filters', readWords)
    .action(async (name: string, { country, tag, ...draft }: Draft) => {
      const body = { name, ...draft, default_country: country, tags: tag }
      await sayResource(cli, await cli.call('createCampaign', { body }))
    })
  command
    .command('stats <campaign>')
    .summary('outcomes of its messages')
    .addOption(
      new Option('--group <by>', 'the dimension')
        .choices(['hour', 'country', 'carrier', 'error', 'segments'])
        .default('country'),
    )
    .option('--since <time>', 'from the hour of this time on', readPast)
    .option('--broadcast <id>', 'only the messages of this broadcast')
    .action(async (campaign: string, { group, since, broadcast }: StatsOptions) => {
      const query = { group, from: since, broadcast }
      await sayStats(cli, await cli.call('getCampaignStats', { path: { campaign }, query }))
    })
  return command
}
