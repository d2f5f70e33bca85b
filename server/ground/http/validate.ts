/** The validators behind every route: bodies are taken as they are, query strings are converted from text. */
import AjvCompiler from '@fastify/ajv-compiler'
import type { ErrorObject } from 'ajv'
import { faultsIn, isUnstorable, parseJson, unstorable } from './body.ts'
import { ApiError, errorsMax, invalid, type FieldError } from '../base/errors.ts'
import { fieldErrorsOf, type Part } from './problem.ts'

interface Check {
  (data: unknown): unknown
  errors?: ErrorObject[] | null
}
type Compile = (route: { schema: unknown }) => Check

// What parsing found wrong inside a body, or an item that is checked alone, until its schema is checked too and all errors can be told at once.
const faultsOf = new WeakMap<object, FieldError[]>()

/** Above this many values only the first error is told: 32 MiB of wrong items, or of one, would make gigabytes of errors. */
const allErrorsValuesMax = 65_536

/**
 * Reads a JSON body. What parsing found wrong in it is kept until its check, which reports it with its own errors; in an item of the list `apart`,
 * until that of the item. @throws as `parseJson`.
 */
export function readBody(bytes: Buffer, apart?: string): unknown {
  const { body, faults } = parseJson(bytes)
  if (faults.length === 0) return body
  // Without an object the schema's check has nothing to attach the faults to; it could only add its own anyway.
  if (typeof body !== 'object' || body === null) throw invalid(faults)
  const items = apart === undefined ? undefined : (body as Record<string, unknown>)[apart]
  if (apart === undefined || !Array.isArray(items)) keepFaults(body, faults)
  else {
    for (const item of items as unknown[]) keepFaults(item, faultsIn(item))
    keepFaults(body, faultsIn({ ...body, [apart]: [] }))
  }
  return body
}

function keepFaults(value: unknown, faults: FieldError[]): void {
  if (faults.length > 0 && typeof value === 'object' && value !== null) faultsOf.set(value, faults)
}

/**
 * Builds Fastify's validator compiler. Nothing is coerced in bodies and nothing is dropped anywhere: `"to": 1555…` is an error, and so
 * is a field that does not exist. maxLength counts code points, as JSON Schema says. A request that is right is checked once; only one
 * that is wrong is checked again to find all its errors. Checks are compiled when first needed: all of them take a second of every start.
 */
export function buildValidators(
  shared: unknown,
): (route: { schema: unknown; httpPart?: string | undefined }) => (data: unknown) => true | { error: Error } {
  const compilerOf = (isBody: boolean, allErrors: boolean): Compile =>
    deferred(() =>
      AjvCompiler()(shared as Record<string, object>, {
        customOptions: {
          allErrors,
          verbose: true,
          removeAdditional: false,
          useDefaults: true,
          coerceTypes: isBody ? false : 'array',
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

/** How many values there are in one; stops counting where they are too many. */
function countValues(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1
  let count = 1
  for (const item of Object.values(value)) if ((count += countValues(item)) > allErrorsValuesMax) break
  return count
}

/**
 * A pattern as Ajv asks for it. That of the names of a Type.Record is `^.*$`, and a dot is no line break: what has a name with one would not be
 * looked at.
 */
const regExp = Object.assign(
  (pattern: string, flags: string): RegExp => new RegExp(pattern === '^.*$' ? '' : pattern, flags),
  { code: 'new RegExp' },
)

const time = /^(\d{4}-\d\d-\d\d)[Tt ](?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/

/** Whether a text is a time as of RFC 3339 that a Date can be: a leap second cannot, nor a 30th of February. */
export function isTime(text: string): boolean {
  const [, day = ''] = time.exec(text) ?? []
  const midnight = new Date(`${day}T00:00:00Z`)
  return !Number.isNaN(midnight.getTime()) && midnight.toISOString().startsWith(day)
}

/** The same, or a day alone: who asks for what came since one need not write its midnight. */
const isTimeOrDate = (text: string): boolean => isTime(/^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00:00Z` : text)

/**
 * Whether no item stands twice; `errors` tells of the first that does, as Ajv asks for it. Ajv's own keyword takes time with the square of
 * the items that are no strings, and calls the `toString` that an object of the body brings. Ours are strings: objects are refused anyway.
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
 * What PostgreSQL cannot be asked for: a percent-encoded NUL in a query or a path, also in a name such as `metadata[a]`, and what Ajv makes
 * a number of without a look at its bounds (`Infinity`, `1e309`).
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
 * Builds Fastify's serializer compiler: answers are written by JSON.stringify, which is twice as fast on a message as code generated from
 * its schema, and costs nothing at start. With `checksAnswers` an answer that its schema does not describe is an error: for tests, so that
 * the reference tells the truth.
 */
export function buildSerializers(checksAnswers: boolean) {
  return (shared: unknown) => {
    const compile = deferred(() =>
      AjvCompiler()(shared as Record<string, object>, {
        customOptions: { allErrors: true, removeAdditional: false, coerceTypes: false, useDefaults: false },
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

/** A compiler that is made when it first has something to compile. */
function deferred(make: () => unknown): Compile {
  let compile: Compile | undefined
  return (route) => (compile ??= make() as Compile)(route)
}
