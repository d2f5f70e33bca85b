import { Command } from 'commander'
import type { Cli } from '../cli.ts'
import { readCount } from '../terminal/list.ts'
import { paint, say } from '../terminal/output.ts'
import { sayFacts } from '../terminal/table.ts'
import { safeJson } from '../terminal/text.ts'
import { localTime } from '../terminal/times.ts'
import { findCarrier } from './carriers.ts'

const commandOf = ({ method, path, body }: { method: string; path: string; body: { settings: object } }): string =>
  `heliogram api ${method} ${path} -F settings='${JSON.stringify(body.settings)}'`

export function build(cli: Cli): Command {
  return new Command('doctor')
    .argument('<carrier>', 'id or name of a carrier')
    .description('Find out why receipts of a carrier match no message and replies reach no account, and how to fix it.')
    .option('--hours <number>', 'how far back to look', readCount)
    .action(async (wanted: string, { hours }: { hours?: number }) => {
      const { id, name } = await findCarrier(cli, wanted)
      const told = await cli.call('diagnoseReceipts', { path: { id }, query: { hours } })
      if (cli.isJson) return say(safeJson(told))
      for (const link of told.links) {
        await say(`${paint('bold', name)}  ${link.link}, the last ${told.hours} hours`)
        const best = link.forms.filter(({ would_match: count }) => count > 0)
        await sayFacts(
          [
            ['receipts without a message', link.unmatched],
            ['examined', link.examined],
            ['form of ids', link.message_id_form],
            ...best.map(
              ({ form, would_match: count, example }) =>
                [
                  `would match as ${form}`,
                  `${count}${example ? `, such as ${example.raw_id} for ${example.message}` : ''}`,
                ] as const,
            ),
            ['messages with their receipt', `${link.settled} of ${link.sampled} examined`],
            [
              'rematch',
              link.rematch.state === 'none' ? null : `${link.rematch.state}, ${link.rematch.matched} receipts matched`,
            ],
            ['advice', link.advice],
            ['to fix it', link.fix && commandOf(link.fix)],
          ],
          '  ',
        )
        for (const { advice, message, fix } of link.findings)
          await sayFacts(
            [
              ['found', advice],
              ['such as', message],
              ['to fix it', fix && commandOf(fix)],
            ],
            '  ',
          )
      }
      for (const { number, last_received_at: at, advice } of told.replies)
        await sayFacts([[`replies to ${number}, the last at ${localTime(at)}`, advice]], '')
    })
}
