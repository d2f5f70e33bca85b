/** Routes whose requests run as the owner of the tables, in front of the second wall (decision 0030). The one list, each with its reason. */
import type { Scope } from '../ground/http/http.ts'

/** By the scope that a route asks for. */
const reasons: Partial<Record<Scope, string>> = {
  'carriers:read':
    'carriers, their links, numbers and lines are the installation’s, and whoever has this scope operates it',
  'carriers:write': 'the same; and what waits in the lines of all accounts is sorted anew',
  'routes:read': 'routes are the installation’s: they are about the messages of every account',
  'routes:write': 'the same',
  'accounts:write': 'they make and change accounts below the caller’s, with keys and invitations of those',
}

/** Whether the requests of a route see more than the rows of the account that calls. */
export const isOwners = (scope: Scope): boolean => scope in reasons
