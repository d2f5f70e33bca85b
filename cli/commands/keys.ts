import type { ApiKey, OperationRequest } from '@heliogram/sdk'
import { Command, Option } from 'commander'
import type { Cli } from '../cli.ts'
import { readFuture } from '../input/moments.ts'
import { readWords } from '../input/pairs.ts'
import { lists } from '../terminal/list.ts'
import { note, say } from '../terminal/output.ts'
import { factsOf, sayFacts, type Column } from '../terminal/table.ts'
import { safeJson } from '../terminal/text.ts'
import { localTime } from '../terminal/times.ts'

type Scopes = OperationRequest<'createApiKey'>['body']['scopes']

interface CreateOptions {
  mode?: 'live' | 'test'
  scope?: string[]
  ip?: string[]
  expires?: string
}

const columns: Column<ApiKey>[] = [
  { title: 'ID', of: ({ id }) => id },
  { title: 'NAME', of: ({ name }) => name, isFlexible: true },
  { title: 'PREFIX', of: ({ prefix }) => prefix },
  { title: 'MODE', of: ({ mode }) => mode },
  { title: 'SCOPES', isExtra: true, of: ({ scopes }) => scopes.length, isNumber: true },
  { title: 'LAST USED', isExtra: true, of: ({ last_used_at: at }) => localTime(at) },
  { title: 'ENDS', of: ({ expires_at: at }) => localTime(at) ?? 'never' },
]

export function build(cli: Cli): Command {
  const command = new Command('keys')
  const saySecret = async (key: Omit<ApiKey, never> & { secret: string }): Promise<void> => {
    if (cli.isJson) return say(safeJson(key))
    const { secret, ...rest } = key
    await sayFacts(factsOf(rest))
    await sayFacts([['secret', secret]])
    note('The secret is shown only now.')
  }
  lists(cli, command.command('list').summary('newest first'), {
    columns,
    empty: 'There are no keys.',
    ask: (client, query) => client.call('listApiKeys', { query }),
  })
  command
    .command('create <name>')
    .summary('create a key; its secret is shown once')
    .addOption(new Option('--mode <mode>', 'test keys send nothing real').choices(['live', 'test']))
    .option('--scope <scope>', 'its scopes; default: yours', readWords)
    .option('--ip <network>', 'a network from which it works; default: all', readWords)
    .option('--expires <time>', 'when it expires; default: in a year: 30d, 2027-01-01', readFuture)
    .action(async (name: string, { mode, scope, ip, expires }: CreateOptions) => {
      // The API validates scopes.
      const body = { name, mode, scopes: scope as Scopes, ip_allow: ip, expires_at: expires }
      await saySecret(await cli.call('createApiKey', { body }))
    })
  command
    .command('rotate <key>')
    .summary('create a new secret; the old one still works for a while')
    .action(async (id: string) => saySecret(await cli.call('rotateApiKey', { path: { id }, body: {} })))
  command
    .command('revoke <key>')
    .summary('revoke a key, at once')
    .action(async (id: string) => {
      await cli.call('revokeApiKey', { path: { id } })
      note(`${id} is revoked.`)
    })
  return command
}
