/** The validators behind every route: bodies are taken unchanged, query strings are converted from text. */
import AjvCompiler from '@fastify/ajv-compiler'
import type { ErrorObject } from 'ajv'
import { faultsIn, isRepeat, isUnstorable, parseJson, unstorable } from './body.ts'
import { ApiError, errorsMax, invalid, type FieldError } from '../base/errors.ts'
import { fieldErrorsOf, type Part } from './problem.ts'

interface Check {
  (data: unknown): unknown
  errors?: ErrorObject[] | null
}
type Compile = (route: { schema: unknown }) => Check

// One for all applications of a process, such as those of tests: it compiles a schema once.
const compilersOf = AjvCompiler()

// Parse faults of a body or a separately checked item, kept until its schema check reports all together.
const faultsOf = new WeakMap<object, FieldError[]>()

/** Above this many values only the first error is reported: 32 MiB of wrong items would make gigabytes of errors. */
const allErrorsValuesMax = 65_536

/**
 * Reads a JSON body. Parse faults are kept until its check, which reports them with its own; those in items of the list `apart`, but repeated names,
 * until the item's check. @throws as `parseJson`.
 */
export function readBody(bytes: Buffer, apart?: string): unknown {
  const { body, faults } = parseJson(bytes)
  if (faults.length === 0) return body
  // Without an object the faults cannot be kept for the schema's check, which has nothing to add.
  if (typeof body !== 'object' || body === null) throw invalid(faults)
  const items = apart === undefined ? undefined : (body as Record<string, unknown>)[apart]
  if (apart === undefined || !Array.isArray(items)) keepFaults(body, faults)
  else {
    for (const item of items as unknown[]) keepFaults(item, faultsIn(item))
    keepFaults(body, [...faultsIn({ ...body, [apart]: [] }), ...faults.filter(isRepeat)])
  }
  return body
}

function keepFaults(value: unknown, faults: FieldError[]): void {
  if (faults.length > 0 && typeof value === 'object' && value !== null) faultsOf.set(value, faults)
}

/**
 * Builds Fastify's validator compiler. Body values are not coerced, and no unknown field is dropped: `"to": 1555…` is an error, and so is
 * an unknown field. maxLength counts code points, as JSON Schema says. Only an invalid request is checked again to find all its errors.
 * Checks are compiled on first use: all of them would add a second to every start.
 */
export function buildValidators(
  shared: unknown,
): (route: { schema: unknown; httpPart?: string | undefined }) => (data: unknown) => true | { error: Error } {
  const compilerOf = (isBody: boolean, allErrors: boolean): Compile =>
    deferred(() =>
      compilersOf(shared as Record<string, object>, {
        customOptions: {
          allErrors,
          verbose: true,
          removeAdditional: false,
          useDefaults: true,
          coerceTypes: isBody ? false : 'array',
          // The schemas are our own, and compiling the one that checks them takes a fifth of a second.
          validateSchema: false,
          code: { regExp },
        },
        onCreate: (ajv) =>
          ajv
            .addFormat('date-time', isBody ? isTime : isTimeOrDate)
            .removeKeyword('uniqueItems')
            .addKeyword({
              keyword: 'uniqueItems',
              type: 'array',
              schemaType: 'boolean',
              errors: 'full',
              validate: isUnique,
            }),
      }),
    )
  const compilers = { body: compilerOf(true, false), text: compilerOf(false, false) }
  const thorough = { body: compilerOf(true, true), text: compilerOf(false, true) }
  return ({ schema, httpPart }) => {
    const part = (httpPart ?? 'body') as Part
    const kind = part === 'body' ? 'body' : 'text'
    let check: Check | undefined
    let checkAll: Check | undefined
    const explain = (data: unknown): FieldError[] => {
      if (countValues(data) > allErrorsValuesMax) return fieldErrorsOf(check?.errors ?? [], part)
      checkAll ??= thorough[kind]({ schema })
      checkAll(data)
      return fieldErrorsOf(checkAll.errors ?? [], part)
    }
    return (data) => {
      check ??= compilers[kind]({ schema })
      const isValid = check(data)
      const faults =
        typeof data !== 'object' || data === null ? undefined : part === 'body' ? faultsOf.get(data) : textFaults(data)
      if (isValid && faults === undefined) return true
      const found = isValid ? [] : explain(data)
      const more = faults ? found.filter((error) => !faults.some((fault) => fault.pointer === error.pointer)) : found
      return { error: refuse(part, [...(faults ?? []), ...more].slice(0, errorsMax)) }
    }
  }
}

/** Counts values up to the limit. */
function countValues(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1
  let count = 1
  for (const item of Object.values(value)) if ((count += countValues(item)) > allErrorsValuesMax) break
  return count
}

/**
 * Compiles Ajv's patterns. That of the names of a Type.Record is `^.*$`, and a dot matches no line break: names with one would not be
 * checked.
 */
const regExp = Object.assign(
  (pattern: string, flags: string): RegExp => new RegExp(pattern === '^.*$' ? '' : pattern, flags),
  { code: 'new RegExp' },
)

const time = /^(\d{4}-\d\d-\d\d)[Tt ](?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/

/** Whether a text is an RFC 3339 time that Date supports: not a leap second, nor 30 February. */
export function isTime(text: string): boolean {
  const [, day = ''] = time.exec(text) ?? []
  const midnight = new Date(`${day}T00:00:00Z`)
  return !Number.isNaN(midnight.getTime()) && midnight.toISOString().startsWith(day)
}

/** The same, or a day alone, as a short form of its midnight. */
const isTimeOrDate = (text: string): boolean => isTime(/^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00:00Z` : text)

/**
 * Whether all items differ; `errors` reports the first duplicate, for Ajv. Ajv's own keyword is quadratic for items that are not strings,
 * and calls `toString` of the body's objects. Ours are strings: objects are refused anyway.
 */
function isUnique(_schema: boolean, items: unknown[]): boolean {
  const places = new Map<string, number>()
  for (const [j, item] of items.entries()) {
    const text = JSON.stringify(item)
    const i = places.get(text)
    if (i !== undefined) {
      isUnique.errors = [{ keyword: 'uniqueItems', params: { i, j } }]
      return false
    }
    places.set(text, j)
  }
  return true
}
isUnique.errors = [] as Partial<ErrorObject>[]

/**
 * Values that PostgreSQL refuses: a percent-encoded NUL in a query or path, also in a name such as `metadata[a]`, and numbers that Ajv
 * converts without checking bounds (`Infinity`, `1e309`).
 */
function textFaults(data: object): FieldError[] | undefined {
  const wrong = Object.entries(data).flatMap(([name, value]: [string, unknown]): FieldError[] => {
    const values = [value].flat()
    if ([name, ...values].some((text) => typeof text === 'string' && isUnstorable(text)))
      return [{ pointer: `?${name}`, code: 'invalid_characters', detail: unstorable }]
    const isEndless = values.some((number) => typeof number === 'number' && !Number.isFinite(number))
    return isEndless ? [{ pointer: `?${name}`, code: 'out_of_range', detail: 'must be a finite number' }] : []
  })
  return wrong.length > 0 ? wrong : undefined
}

function refuse(part: Part, errors: FieldError[]): ApiError {
  if (part === 'params') return new ApiError('not_found')
  if (part !== 'headers') return invalid(errors)
  const detail = errors.map((error) => `${error.pointer.slice(1)} ${error.detail}`).join('; ')
  return new ApiError('invalid_header', { detail: `${detail}.` })
}

/**
 * Builds Fastify's serializer compiler: JSON.stringify is twice as fast on a message as generated code, and needs no compilation at start.
 * With `checksAnswers`, responses that do not match their schema are errors: for tests, so that the reference is right.
 */
export function buildSerializers(checksAnswers: boolean) {
  return (shared: unknown) => {
    const compile = deferred(() =>
      compilersOf(shared as Record<string, object>, {
        customOptions: {
          allErrors: true,
          removeAdditional: false,
          coerceTypes: false,
          useDefaults: false,
          // Applications share the compiled resources.
          inlineRefs: false,
        },
      }),
    )
    return ({ schema }: { schema: unknown }) => {
      if (!checksAnswers) return (data: unknown) => JSON.stringify(data)
      let check: Check | undefined
      return (data: unknown) => {
        check ??= compile({ schema })
        const text = JSON.stringify(data)
        if (!check(JSON.parse(text)))
          throw new Error(`The answer is not what its schema says: ${JSON.stringify(check.errors)} in ${text}`)
        return text
      }
    }
  }
}

/** A compiler that is created on first use. */
function deferred(make: () => unknown): Compile {
  let compile: Compile | undefined
  return (route) => (compile ??= make() as Compile)(route)
}
