/** Whose senders a caller may list or create: numbers belong to the installation, and each is assigned to one account. */
import { findAccount } from '../accounts/subaccounts.ts'
import type { Queryable } from '../ground/db/db.ts'
import { ApiError } from '../ground/base/errors.ts'
import type { Caller } from '../ground/http/http.ts'
import { parseId } from '../ground/base/ids.ts'
import type { Faults } from '../ground/http/faults.ts'

export const seesBelow = ({ scopes }: Caller): boolean => scopes.has('carriers:read')

/** The account whose senders are listed. @throws ApiError `insufficient_scope` or `not_found`. */
export async function findOwner(db: Queryable, caller: Caller, account: string | undefined): Promise<string> {
  const id = account === undefined ? caller.accountId : parseId('acc', account)
  if (id === caller.accountId) return id
  if (!seesBelow(caller))
    throw new ApiError('insufficient_scope', {
      detail: 'Senders of another account need the scope carriers:read.',
    })
  if (id === null) throw new ApiError('not_found', { detail: 'There is no such account.' })
  return (await findAccount(db, caller.accountId, id)).id
}

/** The owner of a new sender. If `account` is wrong, adds a fault and returns the caller. */
export async function readOwner(
  db: Queryable,
  faults: Faults,
  { accountId }: Caller,
  account: string | undefined,
): Promise<string> {
  if (account === undefined || !faults.isSound('#/account')) return accountId
  const id = parseId('acc', account)
  const found = id === null ? null : await findAccount(db, accountId, id).catch(nullIfMissing)
  if (found?.status === 'closed') faults.add('#/account', 'invalid_value', 'is closed; reopen it first')
  else if (found) return found.id
  else faults.add('#/account', 'invalid_value', 'is not your account, nor one below it')
  return accountId
}

function nullIfMissing(error: unknown): null {
  if (error instanceof ApiError && error.code === 'not_found') return null
  throw error
}
