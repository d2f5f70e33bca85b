/** Roles, with what they may do. */
import type { User } from '@heliogram/sdk'

type Role = User['role']

const roles: readonly (readonly [Role, string])[] = [
  ['owner', 'owner: everything in the account'],
  ['admin', 'admin: the same, but for owners'],
  ['developer', 'developer: all but settings, people, accounts, erasure, the audit log'],
  ['sender', 'sender: write to people and read what they answer'],
  ['viewer', 'viewer: see what happened, but not what was written'],
]

/** Those that somebody may give, and whose people they may change: owners are made and changed by owners alone. */
export const rolesFor = (own: string | undefined): typeof roles =>
  roles.filter(([role]) => own === 'owner' || role !== 'owner')

/** The role of a field's value. */
export const roleOf = (text: string): Role => roles.find(([role]) => role === text)?.[0] ?? 'viewer'
