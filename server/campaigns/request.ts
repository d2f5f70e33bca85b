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
