/** Reads fields that a carrier sent as JSON, forms or queries. None is trusted to have its documented form. */

import { tryJson } from '../ground/base/json.ts'
import { octetPairs } from '../ground/http/form.ts'

/** The request is not readable at all. */
export class FieldsError extends Error {}

/** @throws FieldsError */
export function readJson(body: Buffer): unknown {
  const value = tryJson(body.toString('utf8'))
  if (value === undefined) throw new FieldsError('the body is not JSON')
  return value
}

/** The member at a path of names and indexes; undefined if absent. */
export function at(value: unknown, ...path: (string | number)[]): unknown {
  let here = value
  for (const step of path) {
    if (typeof here !== 'object' || here === null || !Object.hasOwn(here, step)) return undefined
    here = (here as Record<string | number, unknown>)[step]
  }
  return here
}

/** The text or number at a path; null if absent or empty. NUL, which cannot be stored, becomes U+FFFD. */
export function textAt(value: unknown, ...path: (string | number)[]): string | null {
  const found = at(value, ...path)
  if (typeof found === 'number' || typeof found === 'boolean') return String(found)
  return typeof found === 'string' && found !== '' ? found.toWellFormed().replaceAll('\0', '\uFFFD') : null
}

/** The list at a path; empty if absent. */
export function listAt(value: unknown, ...path: (string | number)[]): unknown[] {
  const found = at(value, ...path)
  return Array.isArray(found) ? (found as unknown[]) : []
}

/** Fields of a form (application/x-www-form-urlencoded), in order, duplicates included. */
export function readForm(body: Buffer): [string, string][] {
  return [...new URLSearchParams(body.toString('utf8'))]
}

/** Octets of the fields in a request's query and form; the last of each name counts. */
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

/** The fields of a request, in its query, a form or a JSON object. @throws FieldsError */
export function readFields(request: FieldsRequest): unknown {
  const query = [...new URL(request.url).searchParams]
  if (request.body.length === 0) return Object.fromEntries(query)
  if (isForm(request.headers)) return Object.fromEntries([...query, ...readForm(request.body)])
  const body = readJson(request.body)
  return typeof body === 'object' && body !== null && !Array.isArray(body)
    ? { ...Object.fromEntries(query), ...body }
    : body
}
