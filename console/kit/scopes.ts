/** Every scope of the API, with its meaning. */
import type { Operations } from '@heliogram/sdk'

export type Scope = NonNullable<Operations['createApiKey']['body']['scopes']>[number]

const meanings: Record<Scope, string> = {
  'messages:write': 'send, cancel, schedule',
  'messages:read': 'see messages and their status',
  'messages:read_body': 'read their texts',
  'campaigns:read': 'see campaigns, templates and broadcasts',
  'campaigns:write': 'create and edit campaigns, and send broadcasts',
  'campaigns:approve': 'approve other people’s broadcasts',
  'contacts:read': 'see contacts, opt-outs and consent',
  'contacts:write': 'add, edit and import contacts',
  'events:read': 'read the event log and its stream',
  'webhooks:read': 'see webhooks and deliveries',
  'webhooks:write': 'add and edit webhooks, replay events',
  'settings:read': 'see settings, limits and guards',
  'settings:write': 'change settings',
  'keys:read': 'see API keys',
  'keys:write': 'create, rotate and revoke API keys',
  'smpp:read': 'see SMPP credentials',
  'smpp:write': 'create, edit and rotate SMPP credentials',
  'users:read': 'see people',
  'users:write': 'invite, edit and remove people',
  'accounts:read': 'see subaccounts',
  'accounts:write': 'create, suspend and close subaccounts',
  'audit:read': 'read the audit log',
  'usage:read': 'see usage and cost',
  'privacy:read': 'export a person’s data',
  'privacy:write': 'erase a person’s data',
  'profile:read': 'see your own login',
  'profile:write': 'change your own password',
  'carriers:read': 'see carriers, links and prices',
  'carriers:write': 'change carriers, links and prices',
  'routes:read': 'see routes',
  'routes:write': 'change routes',
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

/** Usual sets, of these scopes. */
export const presetsOf = (some: readonly Scope[]) =>
  [
    { title: 'Send only', about: 'Send messages and follow their status.', scopes: usualScopes },
    {
      title: 'Read only',
      about: 'See everything, change nothing.',
      scopes: some.filter((scope) => /:read(_body)?$/.test(scope)),
    },
    { title: 'Full access', about: 'Everything that you may do.', scopes: some },
  ].map((one) => ({ ...one, scopes: one.scopes.filter((scope) => some.includes(scope)) }))
