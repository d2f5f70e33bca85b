/** All that is wrong with a body at once: what its schema refused, and what only a handler can tell. */
import type { FastifyRequest } from 'fastify'
import { invalid, type FieldError } from '../ground/base/errors.ts'
import { schemaErrorsOf } from '../ground/http/faults.ts'

/**
 * The wrong fields of one request, on a route with `attachValidation`. What the schema refused is known from the start; a field under it
 * is not looked at again, so that its checks may trust its type. The constructor throws where the body has no fields at all, or more wrong
 * ones than are told.
 */
export class Faults {
  readonly #errors: FieldError[]

  constructor(request: FastifyRequest) {
    this.#errors = [...schemaErrorsOf(request)]
    // What is no object, or an empty one, has no fields to look at.
    if (this.#errors.some(({ pointer }) => pointer === '#')) this.end()
  }

  /** Whether the schema, or a check, has found nothing wrong at this field nor inside it. */
  isSound(pointer: string): boolean {
    return !this.#errors.some(
      (error) =>
        error.pointer === pointer || error.pointer.startsWith(`${pointer}/`) || pointer.startsWith(`${error.pointer}/`),
    )
  }

  add(pointer: string, code: FieldError['code'], detail: string): void {
    this.#errors.push({ pointer, code, detail })
  }

  /** @throws ApiError `validation_failed` where anything is wrong. */
  end(): void {
    if (this.#errors.length > 0) throw invalid(this.#errors)
  }
}
