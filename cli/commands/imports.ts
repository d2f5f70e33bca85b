import type { Import } from '@heliogram/sdk'
import { Command } from 'commander'
import type { Cli } from '../cli.ts'
import { lists } from '../terminal/list.ts'
import { paintStatus } from '../terminal/status.ts'
import type { Column } from '../terminal/table.ts'
import { followImport, sayImport } from './contacts-import.ts'

const columns: Column<Import>[] = [
  { title: 'ID', of: ({ id }) => id },
  { title: 'STATUS', of: ({ status }) => status, paint: paintStatus },
  { title: 'FORMAT', of: ({ format }) => format },
  { title: 'ROWS', of: ({ counts }) => counts.total ?? counts.processed, isNumber: true },
  { title: 'CREATED', of: ({ counts }) => counts.created, isNumber: true },
  { title: 'UPDATED', of: ({ counts }) => counts.updated, isNumber: true },
  { title: 'REFUSED', of: ({ counts }) => counts.failed, isNumber: true },
  { title: '', of: ({ dry_run: isCheck }) => (isCheck ? 'dry run' : '') },
]

export function build(cli: Cli): Command {
  const command = new Command('imports')
  const list = command
    .command('list')
    .summary('imports of a campaign, newest first')
    .requiredOption('--campaign <campaign>', 'id or key of a campaign')
  lists(cli, list, {
    columns,
    empty: 'Nothing was imported.',
    ask: (client, query, { campaign }: { campaign: string }) =>
      client.call('listImports', { path: { campaign }, query }),
  })
  const read = async (id: string): Promise<Import> => cli.call('getImport', { path: { import: id } })
  command
    .command('get <import>')
    .summary('an import, with its counts')
    .action(async (id: string) => sayImport(cli, await read(id)))
  command
    .command('watch <import>')
    .summary('follow an import to its end')
    .option('--rejected <file>', 'a file for the rejected rows')
    .action(async (id: string, { rejected = null }: { rejected?: string | null }) =>
      followImport(cli, await read(id), rejected),
    )
  command
    .command('cancel <import>')
    .summary('stop an import; rows already written stay')
    .action(async (id: string) => sayImport(cli, await cli.call('cancelImport', { path: { import: id } })))
  return command
}
