/** Request bodies: JSON from untrusted bytes (RFC 8259). Refuses what PostgreSQL, JavaScript or later readers would mishandle. */
import { isUtf8 } from 'node:buffer'
import { ApiError, errorsMax, type FieldError } from '../base/errors.ts'

/** Nothing in the API nests half as deep. */
export const depthMax = 16

/**
 * The default limit of values: parsing takes time by values and not by bytes, and 32 MiB of empty objects blocked the process for five
 * seconds. 10,000 messages with 50 pairs of metadata each have half as many.
 */
export const valuesMax = 1_500_000

/** A parsed body, with faults inside its texts, `errorsMax` at most, which are reported with the schema's. */
export interface ParsedBody {
  body: unknown
  faults: FieldError[]
}

const noFaults: FieldError[] = []

// Only an escape can bring a NUL or a lone surrogate through valid UTF-8 and JSON.parse, so most bodies need no walk.
const suspicious = /\\u|__proto__/

/**
 * Repeated members are faults: readers differ on which one counts, and a message would go to one of two numbers.
 * @throws ApiError `malformed_json` on an empty body, bad UTF-8, bad JSON or more than 16 levels; `payload_too_large` on more values than
 * `most`.
 */
export function parseJson(bytes: Buffer, most: number = valuesMax): ParsedBody {
  if (bytes.length === 0) throw malformed('The body is empty.')
  if (!isUtf8(bytes)) throw malformed('The body is not valid UTF-8.')
  // A value takes two bytes at least, with its separator.
  if (bytes.length > 2 * most && hasManyValues(bytes, most))
    throw new ApiError('payload_too_large', { detail: `The body can have at most ${most} values.` })
  let text = bytes.toString('utf8')
  // RFC 8259 §8.1 lets a reader skip a byte order mark.
  if (text.codePointAt(0) === 0xfeff) text = text.slice(1)
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch (error) {
    throw malformed(error instanceof SyntaxError ? `${error.message}.` : 'The body is not valid JSON.')
  }
  const faults = suspicious.test(text) || hasManyOpenings(text) ? faultsIn(body) : noFaults
  return countMembers(text) === sizeOf(body) ? { body, faults } : { body, faults: [...faults, ...repeatsIn(text)] }
}

/** Faults inside the texts of parsed JSON, `errorsMax` at most. @throws ApiError `malformed_json` on more than 16 levels. */
export function faultsIn(value: unknown): FieldError[] {
  const faults: FieldError[] = []
  inspect(value, [], 0, faults)
  return faults
}

/** For texts that are `isUnstorable`. */
export const unstorable = 'must not contain NUL or a lone surrogate'

/** An RFC 6901 pointer as a URI fragment, one step deeper (§3 and §6). */
export function pointTo(pointer: string, member: string | number): string {
  const step = String(member).replaceAll('~', '~0').replaceAll('/', '~1')
  return `${pointer}/${encodeURIComponent(step.toWellFormed()).replaceAll('%7E', '~')}`
}

/** PostgreSQL refuses NUL, and UTF-8 has no lone surrogates. */
export function isUnstorable(text: string): boolean {
  return text.includes('\0') || !text.isWellFormed()
}

/** Whether a value is a text that can be stored, and so be looked up. */
export const isStorable = (value: unknown): value is string => typeof value === 'string' && !isUnstorable(value)

const malformed = (detail: string): ApiError => new ApiError('malformed_json', { detail })

const [blank, quote, backslash, comma, colon, bracket, brace] = [0x20, 0x22, 0x5c, 0x2c, 0x3a, 0x5b, 0x7b]

/** Counts commas, objects and arrays, up to the limit. */
function hasManyValues(bytes: Buffer, most: number): boolean {
  let count = 0
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]
    if (byte === quote) {
      for (at++; at < bytes.length && bytes[at] !== quote; at++) if (bytes[at] === backslash) at++
    } else if ((byte === comma || byte === bracket || byte === brace) && ++count > most) return true
  }
  return false
}

/** The members that valid JSON writes. */
function countMembers(text: string): number {
  let count = 0
  for (let at = text.indexOf('"'); at !== -1; at = text.indexOf('"', at + 1)) {
    at = endOfString(text, at)
    if (isName(text, at)) count++
  }
  return count
}

/** The index of the quote that ends the string beginning at `start`. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); ; end = text.indexOf('"', end + 1)) {
    let escapes = 0
    while (text.charCodeAt(end - 1 - escapes) === backslash) escapes++
    if (escapes % 2 === 0) return end
  }
}

/** Whether a colon follows the string that ends there. */
function isName(text: string, end: number): boolean {
  let next = end + 1
  while (text.charCodeAt(next) <= blank) next++
  return text.charCodeAt(next) === colon
}

/** The members of all objects of a parsed value. */
function sizeOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  if (Array.isArray(value)) return value.reduce<number>((count, item) => count + sizeOf(item), 0)
  let count = 0
  for (const name in value) count += 1 + sizeOf((value as Record<string, unknown>)[name])
  return count
}

/** Of the faults of `parseJson`. */
export const isRepeat = ({ code }: FieldError): boolean => code === 'invalid_value'

/** A fault for each name that an object of valid JSON has again, `errorsMax` at most. */
function repeatsIn(text: string): FieldError[] {
  const faults: FieldError[] = []
  const open: { names: Set<string>; step: Step }[] = []
  for (let at = 0; at < text.length && faults.length < errorsMax; at++) {
    const top = open.at(-1)
    const sign = text[at]
    if (sign === '{') open.push({ names: new Set(), step: '' })
    else if (sign === '[') open.push({ names: new Set(), step: 0 })
    else if (sign === '}' || sign === ']') open.pop()
    else if (sign === ',' && typeof top?.step === 'number') top.step++
    else if (sign === '"') {
      const end = endOfString(text, at)
      if (top && isName(text, end)) {
        top.step = String(JSON.parse(text.slice(at, end + 1)))
        if (top.names.has(top.step))
          faults.push({
            pointer: open.reduce((pointer, { step }) => pointTo(pointer, step), '#'),
            code: 'invalid_value',
            detail: 'is given more than once',
          })
        top.names.add(top.step)
      }
      at = end
    }
  }
  return faults
}

/** Whether a text opens more objects and arrays than may be nested; counts up to the limit. */
function hasManyOpenings(text: string): boolean {
  let count = 0
  for (let at = text.indexOf('{'); at !== -1; at = text.indexOf('{', at + 1)) if (++count > depthMax) return true
  for (let at = text.indexOf('['); at !== -1; at = text.indexOf('[', at + 1)) if (++count > depthMax) return true
  return false
}

/**
 * The first `depth` steps of `path` lead to the value. Pointers are made for faults only: millions would take seconds. After `errorsMax`
 * faults the depth is still checked, because other code recurses by level.
 */
function inspect(value: unknown, path: Step[], depth: number, faults: FieldError[]): void {
  if (typeof value === 'string') {
    if (faults.length < errorsMax && isUnstorable(value)) faults.push(invalidCharacters(path, depth))
    return
  }
  if (typeof value !== 'object' || value === null) return
  if (depth >= depthMax) throw malformed(`The body is nested deeper than ${depthMax} levels.`)
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) {
      path[depth] = i
      inspect(value[i], path, depth + 1, faults)
    }
    return
  }
  for (const [name, item] of Object.entries(value)) {
    path[depth] = name
    if (faults.length < errorsMax) {
      if (isUnstorable(name)) faults.push(invalidCharacters(path, depth + 1))
      // Harmless as JSON.parse makes it, but not after the first Object.assign.
      if (name === '__proto__')
        faults.push({
          pointer: pointerOf(path, depth + 1),
          code: 'unknown_field',
          detail: 'A field cannot have this name.',
        })
    }
    inspect(item, path, depth + 1, faults)
  }
}

type Step = string | number

const pointerOf = (path: Step[], depth: number): string => path.slice(0, depth).reduce<string>(pointTo, '#')

const invalidCharacters = (path: Step[], depth: number): FieldError => ({
  pointer: pointerOf(path, depth),
  code: 'invalid_characters',
  detail: unstorable,
})
