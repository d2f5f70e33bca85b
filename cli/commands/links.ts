import { Command } from 'commander'
import type { Cli } from '../cli.ts'
import { sayLinks } from '../terminal/links.ts'
import { note, say } from '../terminal/output.ts'
import { safeJson } from '../terminal/text.ts'
import { showLive } from '../terminal/watch.ts'

export function build(cli: Cli): Command {
  return new Command('links')
    .argument('[carrier]', 'id or name of a carrier; default: all')
    .description('The state of links: sessions, unanswered submits, allowed and used rate.')
    .option('-w, --watch', 'refresh every two seconds')
    .action(async (wanted: string | undefined, { watch = false }: { watch?: boolean }) => {
      await showLive(cli, watch, async () => {
        const { data } = await cli.call('listCarriers')
        const carriers = data.filter(({ id, name }) => wanted === undefined || [id, name].includes(wanted))
        if (cli.isJson) {
          for (const link of carriers.flatMap(({ links }) => links)) await say(safeJson(link))
          return
        }
        if (carriers.length === 0)
          return note(wanted === undefined ? 'There are no carriers.' : `There is no carrier ${wanted}.`)
        await sayLinks(carriers)
      })
    })
}
