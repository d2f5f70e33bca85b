/** Request fields on the command line: `to=1555…`, `metadata[order]=77`, `tags[]=vip`. */
import { readFileSync } from 'node:fs'
import { InvalidArgumentError } from 'commander'
import { misused } from '../exit.ts'
import { readTextFile } from './given.ts'
import { extname } from 'node:path'

export interface Field {
  name: string
  value: unknown
}

/** A text field. @throws InvalidArgumentError */
export function readField(text: string, before: Field[] = []): Field[] {
  const at = text.indexOf('=')
  if (at < 1 || !/^[^[\]]+(\[[^[\]]*\])*$/.test(text.slice(0, at)))
    throw new InvalidArgumentError('It must be name=value; a name may end in [member], or in [] for a list.')
  return [...before, { name: text.slice(0, at), value: text.slice(at + 1) }]
}

/** A typed field: JSON, else text; `@file` is the contents of a file. @throws InvalidArgumentError */
export function readTyped(text: string, before: Field[] = []): Field[] {
  const [{ name, value } = { name: '', value: '' }] = readField(text)
  return [...before, { name, value: typeOf(String(value)) }]
}

function typeOf(text: string): unknown {
  if (text.startsWith('@')) {
    try {
      return readFileSync(text.slice(1), 'utf8')
    } catch (error) {
      throw new InvalidArgumentError(error instanceof Error ? error.message : String(error))
    }
  }
  if (!/^(true|false|null|-?\d|[[{"])/.test(text)) return text
  try {
    return JSON.parse(text) as unknown
  } catch {
    return text
  }
}

/** Path parameters go into the path; the rest into the query of reads, and the body of other operations. */
export function placeFields(
  route: string,
  fields: readonly Field[],
  known: Record<string, string>,
): {
  path: Record<string, string>
  query: Record<string, string | number | boolean>
  body: Record<string, unknown> | undefined
} {
  const [method = '', template = ''] = route.split(' ')
  const names = [...template.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
  const path = { ...known }
  const rest = fields.filter(({ name, value }) => {
    if (!names.includes(name) || name in path) return true
    path[name] = String(value)
    return false
  })
  const missing = names.filter((name) => !path[name])
  if (missing.length > 0)
    throw misused(
      `The path ${template} needs ${missing.join(' and ')}.`,
      missing.map((name) => `-f ${name}=…`).join(' '),
    )
  if (['GET', 'DELETE'].includes(method)) {
    const query = Object.fromEntries(rest.map(({ name, value }) => [name, String(value)]))
    return { path, query, body: undefined }
  }
  if (rest.length === 0) return { path, query: {}, body: undefined }
  const body: Record<string, unknown> = {}
  for (const field of rest) put(body, field)
  return { path, query: {}, body }
}

/** Sets a value by its name; creates objects and lists on the way. */
function put(body: Record<string, unknown>, { name, value }: Field): void {
  const [first = '', ...members] = name.replaceAll(']', '').split('[')
  let place: Record<string, unknown> | unknown[] = body
  let key: string = first
  for (const member of members) {
    const own = Object.getOwnPropertyDescriptor(place, key)?.value as unknown
    const there = own ?? (member === '' ? [] : {})
    if (typeof there !== 'object' || (member === '') !== Array.isArray(there))
      throw misused(`The field ${name} conflicts with an earlier one.`)
    Object.defineProperty(place, key, { value: there, enumerable: true, writable: true, configurable: true })
    place = there as Record<string, unknown>
    key = member === '' ? String((there as unknown[]).length) : member
  }
  // `__proto__` must be an ordinary name.
  Object.defineProperty(place, key, { value, enumerable: true, writable: true, configurable: true })
}

/** A body from a file: JSON, or unchanged if the file name has another type. @throws Failure */
export async function readBody(file: string): Promise<{ body: unknown; type: string | null }> {
  const text = await readTextFile(file)
  const type = { '.csv': 'text/csv; charset=utf-8', '.ndjson': 'application/x-ndjson' }[extname(file)]
  if (type !== undefined) return { body: text, type }
  try {
    return { body: JSON.parse(text) as unknown, type: null }
  } catch (error) {
    throw misused(
      `The body is not JSON: ${error instanceof Error ? error.message : String(error)}`,
      'CSV and NDJSON are recognized by the file name.',
    )
  }
}
