import { ApiError } from '../base/errors.ts'
import type { Caller } from './http.ts'

/** @throws ApiError `insufficient_scope` if a test key would change a live object. */
export function refuseLive({ mode }: Pick<Caller, 'mode'>, isTest: boolean): void {
  if (mode === 'test' && !isTest)
    throw new ApiError('insufficient_scope', {
      detail: 'A test key cannot change anything live; use a live key.',
    })
}
