/** Lists: pages of the API as one table, or one JSON object per line. */
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

interface PageQuery {
  limit: number
  cursor?: string | undefined
}

const pageMost = 200

/** A list's columns, its message if it is empty, and a function that reads a page. */
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

/** Prints a list without pages. */
export const sayRows = async <T>(cli: Cli, data: T[], columns: readonly Column<T>[], empty: string): Promise<void> =>
  sayList(cli, async () => ({ data, next_cursor: null }), { limit: Infinity }, { columns, empty })

/** At least one. @throws InvalidArgumentError */
export function readCount(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('It must be a number from 1.')
  return Number(text)
}

/** Prints page by page in JSON and with `--all`. */
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
