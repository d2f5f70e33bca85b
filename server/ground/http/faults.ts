/** Collects all faults of a request: in body and query, and those of the route (`attachValidation`). */
import type { FastifyRequest } from 'fastify'
import { ApiError, errorsMax, invalid, type FieldError } from '../base/errors.ts'

/** Faults of the query, which Fastify does not check if the body is wrong. */
export function queryErrorsOf(request: FastifyRequest): FieldError[] {
  // Our validators return true or the error to throw (see validate.ts).
  const check = request.getValidationFunction('querystring') as unknown as
    | ((query: unknown) => true | { error: ApiError })
    | undefined
  const verdict = check?.(request.query) ?? true
  return verdict === true ? [] : (verdict.error.options.errors ?? [])
}

/** Adds the query's faults to an error of the body. */
export function withQueryErrors(error: ApiError, request: FastifyRequest): ApiError {
  const { errors } = error.options
  if (!errors || !('validationContext' in error) || error.validationContext !== 'body') return error
  const more = queryErrorsOf(request)
  return more.length === 0 ? error : invalid([...errors, ...more].slice(0, errorsMax))
}

/** The faults of a request: the schema's first, then those of further checks. A field gets one fault only. */
export class Faults {
  readonly #known: readonly FieldError[]
  /** Checks add to it. */
  readonly found: FieldError[] = []

  /**
   * Make it before the path is read.
   * @throws ApiError if the schema refused another part of the request than its body or query, or found the maximum of faults.
   */
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

  /** The fields of a body without faults of the schema; none if it is not an object. */
  sound<T extends object>(body: T): Partial<T> {
    const refused = new Set(this.#known.map(({ pointer }) => pointer.split('/', 2)[1]))
    return Object.fromEntries(Object.entries(objectOf(body)).filter(([name]) => !refused.has(name))) as Partial<T>
  }

  /** Whether a field has no fault, nor its members and parents. */
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

/** Reads a query on a route with `attachValidation`: reports faults of the schema and of `read` together. */
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
  // Refused fields are absent: do not report them as missing.
  return readBeside(wrong, () => read(sound), refused)
}

/**
 * Returns the result of `read` if there are no faults, known or found; reports all together. `refused`: names of fields for which `read`
 * must not report.
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

/** Whether the schema may have stopped early: then no field is known to be valid, and none can be checked further. */
export const isCutOff = (found: readonly FieldError[]): boolean => found.length >= errorsMax

/** For a body that the schema may have refused: one that is not an object has no fields. */
export const objectOf = <T extends object>(body: T): T => (typeof body === 'object' && body !== null ? body : ({} as T))
