/** All faults of a request at once: in its body, in its query, and what the route finds besides (`attachValidation`). */
import type { FastifyRequest } from 'fastify'
import { ApiError, errorsMax, invalid, type FieldError } from '../base/errors.ts'

/** What is wrong with the query of a request, which Fastify does not look at where the body is wrong. */
export function queryErrorsOf(request: FastifyRequest): FieldError[] {
  // Our own validators answer true or the error to throw (see validate.ts).
  const check = request.getValidationFunction('querystring') as unknown as
    | ((query: unknown) => true | { error: ApiError })
    | undefined
  const verdict = check?.(request.query) ?? true
  return verdict === true ? [] : (verdict.error.options.errors ?? [])
}

/** The same refusal, with what is wrong with the query where it was the check of the body that refused. */
export function withQueryErrors(error: ApiError, request: FastifyRequest): ApiError {
  const { errors } = error.options
  if (!errors || !('validationContext' in error) || error.validationContext !== 'body') return error
  const more = queryErrorsOf(request)
  return more.length === 0 ? error : invalid([...errors, ...more].slice(0, errorsMax))
}

/**
 * The faults of a request: first those that the schema found, then those that checks find besides. Of a field that the schema refused, or that
 * a check refused before, no second fault is returned.
 */
export class Faults {
  readonly #known: readonly FieldError[]
  /** Checks add to it. */
  readonly found: FieldError[] = []

  /** @throws ApiError if the schema refused another part of the request than its body or query, or found as many faults as are returned. */
  constructor(of: FastifyRequest | readonly FieldError[]) {
    this.#known = 'length' in of ? of : schemaErrorsOf(of)
  }

  get all(): FieldError[] {
    const pointers = new Set(this.#known.map(({ pointer }) => pointer))
    return [...this.#known, ...this.found.filter(({ pointer }) => !pointers.has(pointer))]
  }

  add(pointer: string, code: FieldError['code'], detail: string): void {
    this.found.push({ pointer, code, detail })
  }

  /** The fields of a body in which the schema found no fault; none if it is not an object. */
  sound<T extends object>(body: T): Partial<T> {
    const refused = new Set(this.#known.map(({ pointer }) => pointer.split('/', 2)[1]))
    return Object.fromEntries(Object.entries(objectOf(body)).filter(([name]) => !refused.has(name))) as Partial<T>
  }

  /** Whether there is no fault at a field, in it, or above it. */
  isSound(pointer: string): boolean {
    return !this.all.some(
      (error) =>
        error.pointer === pointer || error.pointer.startsWith(`${pointer}/`) || pointer.startsWith(`${error.pointer}/`),
    )
  }

  /** Throws at once if the body has no fields to check: it is empty, or not an object. */
  needFields(): this {
    if (this.#known.some(({ pointer }) => pointer === '#')) this.end()
    return this
  }

  /** @throws ApiError `validation_failed` if there is any fault. */
  end(): void {
    const { all } = this
    if (all.length > 0) throw invalid(all)
  }
}

function schemaErrorsOf(request: FastifyRequest): FieldError[] {
  const error: unknown = request.validationError
  if (!error) return []
  const isInvalid = error instanceof ApiError && error.code === 'validation_failed'
  const found = isInvalid ? (withQueryErrors(error, request).options.errors ?? []) : null
  if (found === null || isCutOff(found)) throw error
  return found
}

/**
 * What a query asks for, on a route with `attachValidation`: all that is wrong with it at once, what the schema refused and what `read` finds
 * in the rest.
 */
export async function readQuery<Query extends object, T>(
  request: FastifyRequest & { query: Query },
  read: (query: Partial<Query>) => T | Promise<T>,
): Promise<T> {
  const wrong = schemaErrorsOf(request)
  if (wrong.length === 0) return read(request.query)
  const refused = new Set(wrong.map(({ pointer }) => pointer.slice(1)))
  const sound = Object.fromEntries(
    Object.entries(request.query).filter(([name]) => !refused.has(name)),
  ) as Partial<Query>
  // A field that the schema refused is not there: that it is needed is no news.
  return readBeside(wrong, () => read(sound), refused)
}

/**
 * What `read` makes of a request where nothing is wrong, neither what is known already nor what it finds; all of it is told at once.
 * `refused`: fields, without what stands before their names, of which `read` has nothing to tell.
 */
export async function readBeside<T>(
  wrong: readonly FieldError[],
  read: () => T | Promise<T>,
  refused: ReadonlySet<string> = new Set(),
): Promise<T> {
  if (wrong.length === 0) return read()
  let more: readonly FieldError[] = []
  try {
    await read()
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    more = error.options.errors ?? []
  }
  throw invalid([...wrong, ...more.filter(({ pointer }) => !refused.has(pointer.slice(1)))].slice(0, errorsMax))
}

/** Whether more may be wrong than the schema has told: then no field is known to be sound, and none can be looked at further. */
export const isCutOff = (found: readonly FieldError[]): boolean => found.length >= errorsMax

/** A body whose shape the schema may have refused: what is no object has no fields to check. */
export const objectOf = <T extends object>(body: T): T => (typeof body === 'object' && body !== null ? body : ({} as T))
