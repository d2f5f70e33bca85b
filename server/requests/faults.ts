/** Requests of which a route tells everything that is wrong at once (`attachValidation`). */
import type { FastifyRequest } from 'fastify'
import { ApiError, errorsMax, type FieldError } from '../errors.ts'

/**
 * What the schema found wrong, where the route checks more and tells all of it at once (`attachValidation`). Throws where there is nothing to
 * look at besides: it was not the body that was wrong, or too much of it was.
 */
export function schemaErrorsOf(request: FastifyRequest): FieldError[] {
  const error: unknown = request.validationError
  if (!error) return []
  const found = error instanceof ApiError && error.code === 'validation_failed' ? (error.options.errors ?? []) : null
  if (found === null || isCutOff(found)) throw error
  return found
}

/** Whether more may be wrong than the schema has told: then no field is known to be sound, and none can be looked at further. */
export const isCutOff = (found: readonly FieldError[]): boolean => found.length >= errorsMax

/** A body whose shape the schema may have refused: what is no object has no fields to check. */
export const objectOf = <T extends object>(body: T): T => (typeof body === 'object' && body !== null ? body : ({} as T))

/** The fields of a body that the schema has not refused, in them or below: only these can be looked up. */
export function soundFieldsOf<T extends object>(body: T, known: readonly FieldError[]): Partial<T> {
  const refused = new Set(known.map(({ pointer }) => pointer.split('/', 2)[1]))
  return Object.fromEntries(Object.entries(body).filter(([name]) => !refused.has(name))) as Partial<T>
}

/**
 * What can be looked at of a request's body, and what the schema found wrong. To be asked first: throws where it was not the body that was
 * wrong (`schemaErrorsOf`).
 */
export function readSound<T extends object>(
  request: FastifyRequest & { body: T },
): { sound: Partial<T>; faults: FieldError[] } {
  const faults = schemaErrorsOf(request)
  return { sound: soundFieldsOf(objectOf(request.body), faults), faults }
}
