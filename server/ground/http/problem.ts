/** Turns errors of the validator (Ajv) into readable field errors: all of them, each with the allowed values. */
import type { ErrorObject } from 'ajv'
import { pointTo } from './body.ts'
import { errorsMax, type FieldError, type FieldErrorCode } from '../base/errors.ts'
import { meantBy, plain } from './other-names.ts'

export type Part = 'body' | 'querystring' | 'params' | 'headers'

/** The field errors of one check, `errorsMax` at most. Needs Ajv's `verbose` errors. */
export function fieldErrorsOf(errors: ErrorObject[], part: Part): FieldError[] {
  const unique = new Map<string, FieldError>()
  for (const error of collapseUnions(errors)) {
    const found = describe(error, part, unique.size < suggestionsMax ? nearest : noSuggestion)
    unique.set(`${found.pointer} ${found.code}`, found)
    if (unique.size >= errorsMax) break
  }
  return [...unique.values()]
}

// More unknown fields are no typing errors; a batch may have a million.
const suggestionsMax = 10

const noSuggestion = (): undefined => undefined

function describe(error: ErrorObject, part: Part, suggest: typeof nearest): FieldError {
  const params = error.params as Record<string, string & number>
  const own = error.instancePath
  // `?limit=1&limit=2` arrives as a list.
  if (part === 'querystring' && Array.isArray(error.data) && ['type', 'enum'].includes(error.keyword))
    return at(part, own, undefined, 'invalid_type', `must be given once; it is given ${error.data.length} times`)
  switch (error.keyword) {
    case 'required':
    case 'dependentRequired':
      return at(part, own, params['missingProperty'], 'required', 'is required')
    case 'additionalProperties':
    case 'unevaluatedProperties': {
      const name = String(params['additionalProperty'] ?? params['unevaluatedProperty'])
      const known = Object.keys((error.parentSchema as { properties?: object }).properties ?? {})
      const suggestion = suggest(name, known)
      return {
        ...at(
          part,
          own,
          name,
          'unknown_field',
          suggestion ? `is not a known field; did you mean "${suggestion}"?` : 'is not a known field',
        ),
        ...(suggestion && { suggestion }),
      }
    }
    case 'type': {
      const wanted = params['type'] ?? 'value'
      // A missing body is null here.
      const isMissing = part === 'body' && own === '' && error.data === null
      const given = isMissing ? 'it is missing' : `it is ${typeOf(error.data, wanted)}`
      return at(part, own, undefined, 'invalid_type', `must be ${typesOf(wanted)}; ${given}`)
    }
    case 'enum': {
      const allowed = (error.schema as unknown[]).map(String)
      const suggestion = typeof error.data === 'string' ? suggest(error.data, allowed) : undefined
      return {
        ...at(part, own, undefined, 'invalid_value', `must be one of ${allowed.join(', ')}`),
        ...(suggestion && { suggestion }),
      }
    }
    case 'const':
      return at(part, own, undefined, 'invalid_value', `must be ${JSON.stringify(error.schema)}`)
    case 'maxLength':
    case 'minLength':
      return length(error, part, 'character', countCharacters(String(error.propertyName ?? error.data)))
    case 'maxItems':
    case 'minItems':
      return length(error, part, 'item', (error.data as unknown[]).length)
    case 'maxProperties':
    case 'minProperties':
      return length(error, part, 'field', Object.keys(error.data as object).length)
    case 'maximum':
    case 'minimum':
    case 'exclusiveMaximum':
    case 'exclusiveMinimum':
    case 'multipleOf':
      return at(
        part,
        own,
        undefined,
        'out_of_range',
        `must be ${bounds[error.keyword]} ${String(error.schema)}; it is ${String(error.data)}`,
      )
    case 'uniqueItems': {
      const { i, j } = error.params as { i: number; j: number }
      const [first, second] = i < j ? [i, j] : [j, i]
      return at(part, own, String(second), 'invalid_value', `must not occur twice; it is also item ${first}`)
    }
    case 'pattern':
    case 'format':
      return at(part, own, error.propertyName, 'invalid_format', formOf(error, part))
    default:
      return at(part, own, error.propertyName, 'invalid_value', error.message ?? 'is not allowed')
  }
}

function at(part: Part, path: string, member: string | undefined, code: FieldErrorCode, detail: string): FieldError {
  const steps = path
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
  if (member !== undefined) steps.push(member)
  const pointer = part === 'body' ? steps.reduce(pointTo, '#') : `?${steps.join('.').toWellFormed()}`
  return { pointer, code, detail }
}

/** `must be at most 1600 characters; it has 1601` */
function length(error: ErrorObject, part: Part, unit: string, actual: number): FieldError {
  const limit = (error.params as { limit: number }).limit
  const isMax = error.keyword.startsWith('max')
  const verb = unit === 'character' ? 'be' : 'have'
  const subject = error.propertyName === undefined ? 'must' : 'the name must'
  const detail = `${subject} ${verb} ${isMax ? 'at most' : 'at least'} ${limit} ${unit}${limit === 1 ? '' : 's'}; it has ${actual}`
  return at(part, error.instancePath, error.propertyName, isMax ? 'too_long' : 'too_short', detail)
}

/** Code points. Without a list, which would take ten times the memory of megabytes of text. */
function countCharacters(text: string): number {
  let count = text.length
  for (let at = 0; at < text.length - 1; at++)
    if ((text.charCodeAt(at) & 0xfc00) === 0xd800 && (text.charCodeAt(at + 1) & 0xfc00) === 0xdc00) {
      count--
      at++
    }
  return count
}

function formOf(error: ErrorObject, part: Part): string {
  const { examples } = error.parentSchema as { examples?: unknown[] }
  const { format: name, pattern } = error.params as { format?: string; pattern?: string }
  if (name === 'date-time')
    return `must be an RFC 3339 time, such as 2026-11-20T12:00:00Z${part === 'body' ? '' : ', or a date, such as 2026-11-20'}`
  if (name === 'ipv4' || name === 'ipv6') return 'must be an IP address, such as 192.0.2.1 or 2001:db8::1'
  if (examples?.[0] !== undefined) return `must have the documented format, such as ${JSON.stringify(examples[0])}`
  if (name) return `must be a valid ${name}`
  // Texts for other protocols; an example of a password would be one.
  if (pattern?.startsWith('^[ -~]')) return 'must be printable ASCII characters'
  return `must have the form ${pattern}`
}

/**
 * `type` errors of all branches of a union become one; if a branch's type fits, its own errors are more specific. Ajv reports a union right
 * after its branches, so only the end of the list is searched: there may be thousands of unions.
 */
function collapseUnions(errors: ErrorObject[]): ErrorObject[] {
  const rest: ErrorObject[] = []
  for (const error of errors) {
    if (error.keyword === 'anyOf' || error.keyword === 'oneOf') collapseUnion(error, rest)
    else if (error.keyword !== 'propertyNames' && error.keyword !== 'if') rest.push(error)
  }
  return rest
}

/** Replaces a union's branch errors at the end of `rest`. */
function collapseUnion(union: ErrorObject, rest: ErrorObject[]): void {
  const isAt = ({ instancePath }: ErrorObject): boolean =>
    instancePath === union.instancePath || instancePath.startsWith(`${union.instancePath}/`)
  let from = rest.length
  for (let last = rest[from - 1]; last && isAt(last); last = rest[from - 1]) from--
  const here = rest.splice(from)
  const isInside = ({ schemaPath }: ErrorObject): boolean => schemaPath.startsWith(`${union.schemaPath}/`)
  const inside = here.filter(isInside)
  const branches = Map.groupBy(inside, (error) => error.schemaPath.slice(union.schemaPath.length + 1).split('/')[0])
  const fitting = [...branches.values()]
    .filter((branch) => !branch.some((error) => error.keyword === 'type' && error.instancePath === union.instancePath))
    .sort((a, b) => a.length - b.length)[0]
  const types = (union.schema as { type?: string }[]).map((branch) => branch.type).filter((type) => type !== undefined)
  const summary = types.length > 0 ? { ...union, keyword: 'type', params: { type: types } } : union
  const others = here.length > inside.length ? here.filter((error) => !isInside(error)) : []
  for (const error of [...others, ...(fitting ?? [summary])]) rest.push(error)
}

const bounds: Record<string, string> = {
  maximum: 'at most',
  minimum: 'at least',
  exclusiveMaximum: 'less than',
  exclusiveMinimum: 'more than',
  multipleOf: 'a multiple of',
}

const typeNames: Record<string, string> = {
  string: 'a string',
  number: 'a number',
  integer: 'a whole number',
  boolean: 'true or false',
  object: 'an object',
  array: 'an array',
  null: 'null',
}

const typesOf = (types: string | string[]): string =>
  [types]
    .flat()
    .map((type) => typeNames[type] ?? type)
    .join(' or ')

/** The type of a value; numbers that should be whole are shown themselves. */
const typeOf = (value: unknown, wanted: string | string[]): string => {
  if (value === null) return 'null'
  if (typeof value === 'number' && wanted.includes('integer')) return String(value)
  if (Array.isArray(value)) return 'an array'
  return typeof value === 'boolean' ? String(value) : (typeNames[typeof value] ?? typeof value)
}

/** The word that was probably meant: a similar one (same letters, or at most a third of them wrong), or another service's name. */
function nearest(word: string, known: string[]): string | undefined {
  if (word.length > 64) return undefined
  const given = plain(word)
  let best: string | undefined
  let bestDistance = Math.floor(given.length / 3) + 1
  for (const candidate of known) {
    const other = plain(candidate)
    // The distance is at least the difference of lengths.
    if (Math.abs(other.length - given.length) >= bestDistance) continue
    const distance = distanceOf(given, other)
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance]
  }
  return best ?? meantBy(word, known)
}

/** Levenshtein distance. */
function distanceOf(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++)
      next.push(
        Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)),
      )
    row = next
  }
  return row[b.length] ?? 0
}
