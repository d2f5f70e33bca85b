import { Command } from 'commander'
import type { Answer, OptOut } from '@heliogram/sdk'
import type { Cli } from '../cli.ts'
import { readTextFile } from '../input/given.ts'
import { readPair } from '../input/pairs.ts'
import { lists, sayRows } from '../terminal/list.ts'
import { note, say } from '../terminal/output.ts'
import { saveAnswer } from '../terminal/save.ts'
import { findingsOf, inOptions, mappingOf, tellRepairs } from '../terminal/findings.ts'
import { sayFacts, sayTable, type Column } from '../terminal/table.ts'
import { clean, safeJson } from '../terminal/text.ts'
import { localTime } from '../terminal/times.ts'

const columns: Column<OptOut>[] = [
  { title: 'NUMBER', of: ({ number }) => number ?? '(forgotten)' },
  { title: 'SINCE', of: ({ created_at: at }) => localTime(at) },
  { title: 'SOURCE', of: ({ source }) => source },
  { title: 'MESSAGE', of: ({ message }) => message },
  { title: 'REASON', of: ({ reason }) => reason, isFlexible: true },
]

export function build(cli: Cli): Command {
  const command = new Command('opt-outs')
  lists(cli, command.command('list').summary('newest first'), {
    columns,
    empty: 'Nobody has opted out.',
    ask: (client, query) => client.call('listOptOuts', { query }),
  })
  command
    .command('add <number>')
    .summary('opt a number out of all messages')
    .option('--reason <text>', 'the reason, for the consent ledger')
    .action(async (number: string, { reason }: { reason?: string }) => {
      const made = await cli.call('createOptOut', { body: { number, reason } })
      await (cli.isJson ? say(safeJson(made)) : sayTable([made], columns))
    })
  command
    .command('remove <number>')
    .summary('reverse an opt-out, if the person asked in another way than START')
    .requiredOption('--reason <text>', 'who asked for it, and how')
    .action(async (number: string, { reason }: { reason: string }) => {
      await cli.call('deleteOptOut', { path: { number }, query: { reason } })
      note(`${number} can receive messages again.`)
    })
  command
    .command('check <number...>')
    .summary('check whether numbers have opted out')
    .action(async (numbers: string[]) => {
      const { data } = await cli.call('checkOptOuts', { body: { numbers } })
      const columns: Column<(typeof data)[number]>[] = [
        { title: 'NUMBER', of: ({ number }) => number },
        { title: 'OPTED OUT', of: (one) => (one.opted_out ? 'yes' : 'no') },
      ]
      await sayRows(cli, data, columns, '')
    })
  command
    .command('import <file>')
    .summary('opt out the numbers of a list; "-" reads standard input')
    .option('--country <code>', 'where numbers without a country code are from, such as US')
    .option(
      '--map <column=field>',
      'for columns with unusual names: number or reason; no field leaves it out',
      readPair,
    )
    .action(async (file: string, { country, map }: { country?: string; map?: Record<string, string> }) => {
      const body = await readTextFile(file)
      const query = { default_country: country, mapping: map && mappingOf(map) }
      const told = await cli.call('importOptOuts', { body, query })
      await (cli.isJson ? say(safeJson(told)) : sayImported(told))
    })
  command
    .command('export')
    .summary('all opt-outs as CSV')
    .option('-o, --output <file>', 'a file instead of standard output')
    .action(async ({ output }: { output?: string }) =>
      saveAnswer(cli, await (await cli.client()).open('exportOptOuts'), output),
    )
  return command
}

// Enough to see the problem; --json has more.
const errorsMax = 10

async function sayImported(told: Answer<'importOptOuts'>): Promise<void> {
  await sayFacts([
    ['rows', told.total],
    ['opted out', told.created],
    ['out before', told.existing || null],
    ['duplicate', told.duplicate || null],
    ['refused', told.failed],
    ['mended', tellRepairs(told.repairs)],
    ['numbers from', told.detected?.number_column],
    ...findingsOf(told),
  ])
  for (const { line, value, detail, suggestion } of told.errors.slice(0, errorsMax))
    note(
      `  line ${line}, ${clean(value)}: ${clean(inOptions(detail))}${suggestion === undefined ? '' : `; perhaps ${clean(suggestion)}`}`,
    )
  if (told.failed > errorsMax) note(`  … and ${told.failed - errorsMax} more`)
}
