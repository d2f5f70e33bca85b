/** Lists: pages of the API as one table, or as a JSON object a line. */
import type { Client, Page } from '@heliogram/sdk'
import { InvalidArgumentError, Option, type Command } from 'commander'
import type { Cli } from '../cli.ts'
import { note, paintNote, say } from './output.ts'
import { sayTable, type Column } from './table.ts'
import { safeJson } from './text.ts'

interface ListOptions {
  limit: number
  all?: boolean
}

/** Which page. */
interface PageQuery {
  limit: number
  cursor?: string | undefined
}

const pageMost = 200

/** A list: its columns, what to say if it is empty, and a page of it for the arguments and options of a command. */
interface Listing<T, Given extends unknown[]> {
  columns: readonly Column<T>[]
  empty: string
  ask: (client: Client, page: PageQuery, ...given: Given) => Promise<Page<T>>
}

/** Makes a command print a list, with `--limit` and `--all`. */
export function lists<T, Given extends unknown[]>(cli: Cli, command: Command, listing: Listing<T, Given>): Command {
  return command
    .addOption(new Option('-n, --limit <number>', 'maximum number').argParser(readCount).default(30))
    .addOption(new Option('--all', 'list all'))
    .action(async (...given: unknown[]) => {
      const client = await cli.client()
      await sayList(cli, (page) => listing.ask(client, page, ...(given as Given)), command.opts(), listing)
    })
}

/** Prints a list that is not paged. */
export const sayRows = async <T>(cli: Cli, data: T[], columns: readonly Column<T>[], empty: string): Promise<void> =>
  sayList(cli, async () => ({ data, next_cursor: null }), { limit: Infinity }, { columns, empty })

/** A number of at least one. @throws InvalidArgumentError */
export function readCount(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('It must be a number from 1.')
  return Number(text)
}

/** Prints a list, newest pages first as the API gives them; in JSON and with `--all` as the pages come. */
async function sayList<T>(
  { isJson }: Cli,
  ask: (query: PageQuery) => Promise<Pick<Page<T>, 'data' | 'next_cursor'>>,
  { limit, all = false }: ListOptions,
  { columns, empty }: Pick<Listing<T, []>, 'columns' | 'empty'>,
): Promise<void> {
  let left = all ? Infinity : limit
  let cursor: string | undefined
  let count = 0
  for (;;) {
    const { data, next_cursor: next } = await ask({ limit: Math.min(left, pageMost), cursor })
    const things = data.slice(0, left)
    if (isJson) for (const one of things) await say(safeJson(one))
    else if (things.length > 0) await sayTable(things, columns, count === 0)
    count += things.length
    left -= things.length
    if (next === null) break
    if (left <= 0) {
      note(paintNote('dim', `There are more: use --limit ${limit * 10}, or --all.`))
      break
    }
    cursor = next
  }
  if (count === 0) note(empty)
}
