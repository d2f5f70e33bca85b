import type { User } from '@heliogram/sdk'

type Role = User['role']

const roles: readonly (readonly [Role, string])[] = [
  ['owner', 'owner: everything in the account'],
  ['admin', 'admin: the same, but for owners'],
  ['developer', 'developer: all but settings, people, accounts, erasure, the audit log'],
  ['sender', 'sender: write to people and read what they answer'],
  ['viewer', 'viewer: see what happened, but not what was written'],
]

/** Roles that a user may grant, and whose holders they may change: only owners create and change owners. */
export const rolesFor = (own: string | undefined): typeof roles =>
  roles.filter(([role]) => own === 'owner' || role !== 'owner')

export const roleOf = (text: string): Role => roles.find(([role]) => role === text)?.[0] ?? 'viewer'
