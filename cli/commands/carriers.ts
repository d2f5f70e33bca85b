import type { Carrier } from '@heliogram/sdk'
import { Command } from 'commander'
import type { Cli } from '../cli.ts'
import { misused } from '../exit.ts'
import { sayLinks } from '../terminal/links.ts'
import { sayRows } from '../terminal/list.ts'
import { say } from '../terminal/output.ts'
import { paintStatus } from '../terminal/status.ts'
import { factsOf, sayFacts, type Column } from '../terminal/table.ts'
import { safeJson } from '../terminal/text.ts'
import { spanOf } from '../terminal/times.ts'

export function build(cli: Cli): Command {
  const command = new Command('carriers').description(
    'Carriers and their state. Create and update them in the console, or with "heliogram api createCarrier".',
  )
  command
    .command('list')
    .summary('all carriers')
    .action(async () => {
      const { data } = await cli.call('listCarriers')
      const columns: Column<Carrier>[] = [
        { title: 'ID', of: ({ id }) => id },
        { title: 'NAME', of: ({ name }) => name, isFlexible: true },
        { title: 'KIND', of: ({ kind }) => kind },
        {
          title: 'STATE',
          of: ({ enabled, links }) => (enabled ? links.map(({ state }) => state).join(', ') : 'disabled'),
          paint: paintStatus,
        },
        { title: 'PACE', of: ({ pace }) => pace, isNumber: true },
        { title: 'PRIORITY', of: ({ priority }) => priority, isNumber: true },
        { title: 'WAITING', of: ({ queue }) => queue.reduce((sum, { messages }) => sum + messages, 0), isNumber: true },
      ]
      await sayRows(cli, data, columns, 'There are no carriers.')
    })
  command
    .command('get <carrier>')
    .summary('a carrier, by id or name, with its links, times and settings')
    .action(async (wanted: string) => {
      const carrier = await findCarrier(cli, wanted)
      if (cli.isJson) return say(safeJson(carrier))
      const { links, latency, queue, ...rest } = carrier
      await sayFacts(factsOf(rest))
      const { response, receipt } = latency
      await sayFacts([
        ['response', response && `${spanOf(response.p50_ms)} (p50), ${spanOf(response.p95_ms)} (p95)`],
        ['receipt', receipt && `${spanOf(receipt.p50_ms)} (p50), ${spanOf(receipt.p95_ms)} (p95)`],
        ...queue.map(
          ({ type, messages, oldest_age_seconds: age }) =>
            [`queued, ${type}`, `${messages}${age === null ? '' : `, oldest ${spanOf(age * 1000)}`}`] as const,
        ),
      ])
      await say()
      if (links.length > 0) await sayLinks([carrier])
    })
  return command
}

/** By id or name. @throws Failure if there is none */
export async function findCarrier(cli: Cli, wanted: string): Promise<Carrier> {
  if (wanted.startsWith('car_')) return cli.call('getCarrier', { path: { id: wanted } })
  const { data } = await cli.call('listCarriers')
  const found = data.find(({ name }) => name === wanted)
  if (found === undefined)
    throw misused(
      `There is no carrier "${wanted}".`,
      data.length > 0 ? `Carriers: ${data.map(({ name }) => name).join(', ')}.` : null,
    )
  return cli.call('getCarrier', { path: { id: found.id } })
}
