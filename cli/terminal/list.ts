/** Lists: pages of the API as one table, or as a JSON object a line. */
import type { Page } from '@heliogram/sdk'
import { InvalidArgumentError, Option, type Command } from 'commander'
import { note, paintNote, say } from './output.ts'
import { sayTable, type Column } from './table.ts'
import { safeJson } from './text.ts'

/** How much of a list is shown. */
export interface ListOptions {
  limit: number
  all?: boolean
}

/** Which page. */
export interface PageQuery {
  limit: number
  cursor?: string | undefined
}

const pageMost = 200

/** Gives a command `--limit` and `--all`. */
export function takesLimit(command: Command): Command {
  return command
    .addOption(new Option('-n, --limit <number>', 'maximum number').argParser(readCount).default(30))
    .addOption(new Option('--all', 'list all'))
}

/** A number of at least one. @throws InvalidArgumentError */
export function readCount(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('It must be a number from 1.')
  return Number(text)
}

/** Prints a list, newest pages first as the API gives them; in JSON and with `--all` as the pages come. */
export async function sayList<T>(
  ask: (query: PageQuery) => Promise<Page<T>>,
  { limit, all = false }: ListOptions,
  { isJson, columns, empty }: { isJson: boolean; columns: readonly Column<T>[]; empty: string },
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
