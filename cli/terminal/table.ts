/** Tables and cards that fit the terminal. */
import type { Cli } from '../cli.ts'
import { gap, layOut, type Flexibility } from './layout.ts'
import { columnsOf, paint, say } from './output.ts'
import { clean, cleanLines, cut, safeJson, widthOf } from './text.ts'
import { localTime } from './times.ts'

export interface Column<T> extends Flexibility {
  title: string
  of: (one: T) => string | number | null | undefined
  isNumber?: boolean
  paint?: (text: string, one: T) => string
}

/** One line per row; in a pipe cells are not cut. Empty columns are dropped. */
export async function sayTable<T>(things: readonly T[], all: readonly Column<T>[], hasTitles = true): Promise<void> {
  const cellsOf = (column: Column<T>): string[] => things.map((one) => clean(String(column.of(one) ?? '–')))
  const told = all
    .map((column) => {
      const cells = cellsOf(column)
      return { column, cells, width: Math.max(...[hasTitles ? column.title : '', ...cells].map(widthOf)) }
    })
    .filter(({ cells }) => cells.some((cell) => cell !== ''))
  const shown = layOut(told, columnsOf())
  const columns = shown.map(({ column }) => column)
  const widths = shown.map(({ width }) => width)
  const line = (cells: string[], style: (text: string, i: number) => string): string =>
    cells
      .map((cell, i) => {
        const text = cut(cell, widths[i] ?? 0)
        const blank = ' '.repeat(Math.max(0, (widths[i] ?? 0) - widthOf(text)))
        if (columns[i]?.isNumber) return blank + style(text, i)
        return style(text, i) + (i === cells.length - 1 ? '' : blank)
      })
      .join(' '.repeat(gap))
      .trimEnd()
  const titles = columns.map(({ title }) => title)
  if (hasTitles) await say(line(titles, (text) => paint('bold', text)))
  for (const [at, thing] of things.entries()) {
    const cells = shown.map((one) => one.cells[at] ?? '')
    await say(line(cells, (text, i) => columns[i]?.paint?.(text, thing) ?? text))
  }
}

/** A name and a value; null and undefined are skipped. */
export type Fact = readonly [name: string, value: string | number | boolean | null | undefined]

export async function sayFacts(
  facts: readonly Fact[],
  indent = '',
  print: (line: string) => unknown = say,
): Promise<void> {
  const told = facts.filter(([, value]) => value !== null && value !== undefined && value !== '')
  const width = Math.max(0, ...told.map(([name]) => name.length))
  for (const [name, value] of told) {
    const [first = '', ...rest] = cleanLines(String(value))
    await print(`${indent}${paint('dim', name.padEnd(width))}  ${first}`)
    for (const line of rest) await print(`${indent}${' '.repeat(width)}  ${line}`)
  }
}

const isTime = (name: string): boolean => /(_at|_since)$/.test(name)

/** The fields of any resource, nested ones by path (`route.carrier`), times in local time. */
export function factsOf(resource: object, path = ''): Fact[] {
  return Object.entries(resource).flatMap(([name, value]: [string, unknown]): Fact[] => {
    const full = path ? `${path}.${name}` : name
    if (full === 'object') return []
    if (value === null || value === undefined) return []
    if (Array.isArray(value)) {
      if (value.length === 0) return []
      const isPlain = value.every((one) => typeof one !== 'object')
      return [[full, isPlain ? value.join(', ') : JSON.stringify(value)]]
    }
    if (typeof value === 'object') return factsOf(value, full)
    const told = value as string | number | boolean
    return [[full, isTime(full) ? localTime(String(told)) : told]]
  })
}

export const sayResource = async ({ isJson }: Cli, resource: object): Promise<void> =>
  isJson ? say(safeJson(resource)) : sayFacts(factsOf(resource))
