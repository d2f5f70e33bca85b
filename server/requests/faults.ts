/** Requests of which a route tells everything that is wrong at once (`attachValidation`). */
import type { FastifyRequest } from 'fastify'
import { ApiError, type FieldError } from '../errors.ts'

/** What the schema found wrong, where the route checks more and tells all of it at once (`attachValidation`). */
export function schemaErrorsOf(request: FastifyRequest): FieldError[] {
  const error: unknown = request.validationError
  if (!error) return []
  if (error instanceof ApiError && error.code === 'validation_failed') return error.options.errors ?? []
  throw error
}

/** A body whose shape the schema may have refused: what is no object has no fields to check. */
export const objectOf = <T extends object>(body: T): T => (typeof body === 'object' && body !== null ? body : ({} as T))

/** The fields of a body that the schema has not refused, in them or below: only these can be looked up. */
export function soundFieldsOf<T extends object>(body: T, known: readonly FieldError[]): Partial<T> {
  const refused = new Set(known.map(({ pointer }) => pointer.split('/', 2)[1]))
  return Object.fromEntries(Object.entries(body).filter(([name]) => !refused.has(name))) as Partial<T>
}
