import { scopes, type Caller, type Scope } from '../ground/http/http.ts'

/** In descending order of rights. */
export const roles = ['owner', 'admin', 'developer', 'sender', 'viewer'] as const

export type Role = (typeof roles)[number]

const ofOperator: ReadonlySet<Scope> = new Set(['carriers:read', 'carriers:write', 'routes:read', 'routes:write'])
const profile: readonly Scope[] = ['profile:read', 'profile:write']
const ofOwners: ReadonlySet<Scope> = new Set([
  'settings:write',
  'audit:read',
  'campaigns:approve',
  'users:write',
  'accounts:read',
  'accounts:write',
  'privacy:read',
  'privacy:write',
])
const ofBuilders: ReadonlySet<Scope> = new Set(['keys:read', 'users:read'])

const scopesOfRole: Record<Role, readonly Scope[]> = {
  owner: scopes,
  admin: scopes,
  // Builds against the API: everything except settings, users and the audit log.
  developer: scopes.filter((scope) => !ofOwners.has(scope)),
  // Writes to people and reads their replies.
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
    ...profile,
  ],
  // Sees what happened, but not the texts.
  viewer: [
    ...scopes.filter((scope) => scope.endsWith(':read') && !ofOwners.has(scope) && !ofBuilders.has(scope)),
    'profile:write',
  ],
}

/** Carriers belong to the installation, so only its operator gets their scopes, in any role. */
export function scopesOf(role: Role, isOperator: boolean): Scope[] {
  return scopesOfRole[role].filter((scope) => isOperator || !ofOperator.has(scope))
}

/** Whether a caller may give a role, or change its holder: within the caller's rights, and `owner` only by owners. `own` is null for a key. */
export function mayGrant(caller: Caller, own: Role | null, role: Role, isOperator = false): boolean {
  return (role !== 'owner' || own === 'owner') && scopesOf(role, isOperator).every((scope) => caller.scopes.has(scope))
}
