/** What the people of an account may do. */
import { scopes, type Scope } from '../http.ts'

/** A user's role in its account. */
export type Role = 'owner' | 'admin' | 'developer' | 'sender' | 'viewer'

const ofOperator: ReadonlySet<Scope> = new Set(['carriers:read', 'carriers:write', 'routes:read', 'routes:write'])
const reading = scopes.filter((scope) => scope.endsWith(':read') && scope !== 'audit:read')

const scopesOfRole: Record<Role, readonly Scope[]> = {
  owner: scopes,
  admin: scopes,
  // Builds against the API: everything but the account's settings and its audit log.
  developer: scopes.filter((scope) => scope !== 'settings:write' && scope !== 'audit:read'),
  // Writes to people and reads what they answer.
  sender: [
    'messages:read',
    'messages:read_body',
    'messages:write',
    'campaigns:read',
    'campaigns:write',
    'contacts:read',
    'contacts:write',
    'events:read',
    'settings:read',
  ],
  // Sees what happened, but not what was written.
  viewer: reading.filter((scope) => scope !== 'keys:read'),
}

/** The scopes of a login. Carriers belong to the installation, so only its operator has theirs, whatever the role. */
export function scopesOf(role: Role, isOperator: boolean): Scope[] {
  return scopesOfRole[role].filter((scope) => isOperator || !ofOperator.has(scope))
}
