/** Every scope of the API, with its meaning. */
import type { Operations } from '@heliogram/sdk'

export type Scope = NonNullable<Operations['createApiKey']['body']['scopes']>[number]

const meanings: Record<Scope, string> = {
  'messages:write': 'send, cancel, schedule',
  'messages:read': 'see messages and what became of them',
  'messages:read_body': 'read their texts',
  'campaigns:read': 'see campaigns, templates and broadcasts',
  'campaigns:write': 'make and change them, and send broadcasts',
  'campaigns:approve': 'approve broadcasts of others',
  'contacts:read': 'see contacts, opt-outs and consent',
  'contacts:write': 'add, change and import them',
  'events:read': 'read the event log and its stream',
  'webhooks:read': 'see endpoints and deliveries',
  'webhooks:write': 'add and change endpoints, post again',
  'settings:read': 'see settings, limits and guards',
  'settings:write': 'change them',
  'keys:read': 'see API keys',
  'keys:write': 'make, rotate and revoke keys',
  'smpp:read': 'see SMPP credentials',
  'smpp:write': 'make, change and rotate them',
  'users:read': 'see who is there',
  'users:write': 'invite, change and remove people',
  'accounts:read': 'see the accounts below this one',
  'accounts:write': 'make, suspend and close them',
  'audit:read': 'read the audit log',
  'usage:read': 'see what was sent and what it costs',
  'privacy:read': 'export what is known of a person',
  'privacy:write': 'erase a person',
  'profile:read': 'see oneself',
  'profile:write': 'change one’s own password',
  'carriers:read': 'see carriers, links and prices',
  'carriers:write': 'change them',
  'routes:read': 'see routes',
  'routes:write': 'change them',
}

const isScope = (text: string): text is Scope => Object.hasOwn(meanings, text)

export const scopesIn = (texts: readonly string[]): Scope[] => texts.filter(isScope)

const titles: Record<string, readonly string[]> = {
  Messaging: ['messages', 'campaigns', 'contacts'],
  Integration: ['events', 'webhooks', 'smpp', 'keys'],
  Account: ['settings', 'users', 'accounts', 'audit', 'usage', 'privacy', 'profile'],
  Installation: ['carriers', 'routes'],
}

export const groupScopes = (some: readonly Scope[]) =>
  Object.entries(titles)
    .map(([title, names]) => ({
      title,
      choices: some
        .filter((scope) => names.includes(scope.split(':', 1)[0] ?? ''))
        .map((value) => ({ value, about: meanings[value] })),
    }))
    .filter(({ choices }) => choices.length > 0)

export const allScopes = scopesIn(Object.keys(meanings))

/** Enough for most programs. */
export const usualScopes: readonly Scope[] = ['messages:write', 'messages:read', 'campaigns:read']
