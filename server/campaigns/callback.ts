import { ApiError } from '../ground/base/errors.ts'

/**
 * Postings contain texts of many messages and data of contacts, so only callers who may read texts can set such an address. @throws
 * ApiError `insufficient_scope`.
 */
export function refuseCallback(url: unknown, before: string | null, scopes: ReadonlySet<string>): void {
  if (typeof url === 'string' && url !== before && !scopes.has('messages:read_body'))
    throw new ApiError('insufficient_scope', {
      detail: 'callback_url needs the scope messages:read_body, because posts to it contain the texts of messages.',
    })
}
