import type { User } from '@heliogram/sdk'

type Role = User['role']

const roles: readonly (readonly [Role, string])[] = [
  ['owner', 'Owner: full access'],
  ['admin', 'Admin: full access, except managing owners'],
  ['developer', 'Developer: everything except settings, people, accounts, erasure and the audit log'],
  ['sender', 'Sender: send messages and read replies'],
  ['viewer', 'Viewer: see activity, but not message texts'],
]

/** Roles that a user may grant, and whose holders they may change: only owners create and change owners. */
export const rolesFor = (own: string | undefined): typeof roles =>
  roles.filter(([role]) => own === 'owner' || role !== 'owner')

export const roleOf = (text: string): Role => roles.find(([role]) => role === text)?.[0] ?? 'viewer'
