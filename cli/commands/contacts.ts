import type { Contact, OperationRequest } from '@heliogram/sdk'
import { Command, Option } from 'commander'
import type { Cli } from '../cli.ts'
import { readPast } from '../input/moments.ts'
import { readPair, readWords } from '../input/pairs.ts'
import { lists } from '../terminal/list.ts'
import { saveAnswer } from '../terminal/save.ts'
import { paintStatus } from '../terminal/status.ts'
import type { Column } from '../terminal/table.ts'
import { localTime } from '../terminal/times.ts'
import { importFile, type ImportOptions } from './contacts-import.ts'

interface Filters {
  campaign: string
  phone?: string
  prefix?: string
  externalId?: string
  tag?: string[]
  optedOut?: true
  since?: string
  until?: string
}

const columns: Column<Contact>[] = [
  { title: 'ID', of: ({ id }) => id },
  { title: 'NUMBER', of: ({ phone_number: number }) => number },
  { title: 'STATUS', of: ({ status }) => status, paint: paintStatus },
  {
    title: 'NAME',
    of: ({ first_name: first, last_name: last }) => [first, last].filter(Boolean).join(' '),
    isFlexible: true,
  },
  { title: 'COUNTRY', isExtra: true, of: ({ country }) => country },
  { title: 'TAGS', isExtra: true, of: ({ tags }) => tags.join(', '), isFlexible: true },
  { title: 'MADE', isExtra: true, of: ({ created_at: at }) => localTime(at) },
]

export function build(cli: Cli): Command {
  const command = new Command('contacts')
  lists(cli, takesFilters(command.command('list').summary('contacts of a campaign')), {
    columns,
    empty: 'No contacts match.',
    ask: (client, page, { campaign, ...filters }: Filters) =>
      client.call('listContacts', { path: { campaign }, query: { ...queryOf(filters), ...page } }),
  })
  command
    .command('import <file>')
    .summary('from CSV, a workbook, NDJSON or JSON; also gzipped')
    .description(
      'Import contacts from a file: CSV, a workbook (.xlsx), NDJSON or a JSON list, each also as .gz. "-" reads CSV from standard input. Bad rows do not stop the import: they are written to a file beside it, to correct and import again.',
    )
    .requiredOption('--campaign <campaign>', 'where they go, by id or key')
    .option('--check', 'dry run: count, and show how rows would be stored')
    .addOption(new Option('--on-conflict <how>', 'with numbers that the campaign has').choices(['update', 'skip']))
    .option('--country <code>', 'the country of numbers without a country code, such as US')
    .option('--map <column=field>', 'for columns with unusual names; an empty field leaves the column out', readPair)
    .option('--rejected <file>', 'a file for the bad rows; default: <file>.rejected.csv')
    .option('--detach', 'do not follow it')
    .action(async (file: string, options: ImportOptions) => importFile(cli, file, options))
  takesFilters(command.command('export').summary('all matching contacts, oldest first; the file can be imported again'))
    .addOption(new Option('--format <format>', 'the format').choices(['csv', 'ndjson']).default('csv'))
    .option('-o, --output <file>', 'a file instead of standard output')
    .action(
      async ({ format, output, campaign, ...filters }: Filters & { format: 'csv' | 'ndjson'; output?: string }) => {
        const query = { ...queryOf(filters), format }
        await saveAnswer(cli, await (await cli.client()).open('exportContacts', { path: { campaign }, query }), output)
      },
    )
  return command
}

const takesFilters = (command: Command): Command =>
  command
    .requiredOption('--campaign <campaign>', 'id or key of a campaign')
    .option('--phone <number>', 'the contact with this number')
    .option('--prefix <digits>', 'numbers that start with these digits')
    .option('--external-id <id>', 'your own id of the person')
    .option('--tag <tag>', 'with all of these tags', readWords)
    .option('--opted-out', 'people who opted out')
    .option('--since <time>', 'created since then: 2h, 3d, 2026-11-24', readPast)
    .option('--until <time>', 'created before then', readPast)

function queryOf(filters: Omit<Filters, 'campaign'>): NonNullable<OperationRequest<'exportContacts'>['query']> {
  return {
    phone_number: filters.phone,
    phone_prefix: filters.prefix,
    external_id: filters.externalId,
    tag: filters.tag?.join(','),
    status: filters.optedOut && 'opted_out',
    created_after: filters.since,
    created_before: filters.until,
  }
}
