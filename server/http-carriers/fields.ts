/** Reading fields of what a carrier sent: JSON, forms and queries, none of which is trusted to have the form that was documented. */

import { tryJson } from '../ground/base/json.ts'
import { octetPairs } from '../ground/http/form.ts'

/** A request that cannot be read at all. */
export class FieldsError extends Error {}

/** JSON of a request. @throws FieldsError */
export function readJson(body: Buffer): unknown {
  const value = tryJson(body.toString('utf8'))
  if (value === undefined) throw new FieldsError('the body is not JSON')
  return value
}

/** The member at a path of names and indexes; undefined where there is none. */
export function at(value: unknown, ...path: (string | number)[]): unknown {
  let here = value
  for (const step of path) {
    if (typeof here !== 'object' || here === null || !Object.hasOwn(here, step)) return undefined
    here = (here as Record<string | number, unknown>)[step]
  }
  return here
}

/** The text or number at a path; null where there is none, or an empty one. NUL, which cannot be stored, becomes U+FFFD. */
export function textAt(value: unknown, ...path: (string | number)[]): string | null {
  const found = at(value, ...path)
  if (typeof found === 'number' || typeof found === 'boolean') return String(found)
  return typeof found === 'string' && found !== '' ? found.toWellFormed().replaceAll('\0', '\uFFFD') : null
}

/** The list at a path; empty where there is none. */
export function listAt(value: unknown, ...path: (string | number)[]): unknown[] {
  const found = at(value, ...path)
  return Array.isArray(found) ? (found as unknown[]) : []
}

/** Fields of a form (application/x-www-form-urlencoded), each name with all its values. */
export function readForm(body: Buffer): [string, string][] {
  return [...new URLSearchParams(body.toString('utf8'))]
}

/** The octets of the fields that a request has in its query and in a form, the last of each name. */
export function readOctetFields({ url, headers, body }: FieldsRequest): Map<string, Buffer> {
  const query = Buffer.from(url.replace(/^[^?]*\??/, '').replace(/#.*$/, ''), 'latin1')
  return new Map([...octetPairs(query), ...(isForm(headers) ? octetPairs(body) : [])])
}

interface FieldsRequest {
  url: string
  headers: Readonly<Record<string, string | undefined>>
  body: Buffer
}

const isForm = (headers: FieldsRequest['headers']): boolean =>
  (headers['content-type'] ?? '').startsWith('application/x-www-form-urlencoded')

/** The fields of a request, wherever the carrier put them: its query, a form or a JSON object. @throws FieldsError */
export function readFields(request: FieldsRequest): unknown {
  const query = [...new URL(request.url).searchParams]
  if (request.body.length === 0) return Object.fromEntries(query)
  if (isForm(request.headers)) return Object.fromEntries([...query, ...readForm(request.body)])
  const body = readJson(request.body)
  return typeof body === 'object' && body !== null && !Array.isArray(body)
    ? { ...Object.fromEntries(query), ...body }
    : body
}
