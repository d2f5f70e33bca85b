/** How tenancy.test.ts calls each route: one row per route, and the test fails if one is missing. */
import type { Scope } from '../server/ground/http/http.ts'
import type { Things } from './tenant.ts'

/** How to call a route. Where the things of two accounts differ in path, query or body, the matrix exchanges them one by one. */
export interface Row {
  /** Names of the things in the path, in order; or several such lists. */
  at?: string | string[]
  query?: string
  queries?: (things: Things) => string[]
  bodies?: (things: Things) => unknown[]
  type?: string
  /** Belongs to the installation: to no account, and only the operator's scopes allow it. */
  isOperators?: true
  /** Its own account is refused too, for an irrelevant fault of the body. */
  isRefused?: true
  /** Why it needs no caller. */
  open?: string
  /** Where other kinds of credentials are tested. */
  elsewhere?: string
}

const login = 'gives tokens for credentials'
const today = new Date().toISOString()
const twilio: Row = { elsewhere: 'test/twilio.test.ts' }
const operator = { isOperators: true } as const
// Callers here have keys, and a key is not a person.
const person = { isRefused: true } as const
const message: Row = {
  bodies: ({ campaign, campaignKey, senderNumber, pool, template, templateName }) =>
    [
      { message: 'Hello', campaign, from: senderNumber },
      { message: 'Hello', campaign: campaignKey, sender_pool: pool },
      { template },
      { template: templateName },
    ].map((body) => ({ to: '15551239999', ...body })),
}
const listed: Row = {
  queries: ({ campaign, campaignKey, contact, contactNumber, senderNumber }) => [
    `campaign=${campaign}`,
    `campaign=${campaignKey}`,
    `contact=${contact}`,
    `to=${contactNumber}`,
    `from=${contactNumber}&direction=inbound`,
    `from=${senderNumber}`,
  ],
}
const messages: Row = {
  bodies: (things) => [{ atomic: true, messages: message.bodies?.(things) }],
}
const order: Row = {
  at: ['idle', 'idleKey'],
  bodies: ({ senderNumber, pool, template, templateName }) => [
    { template, dry_run: true },
    { template: templateName, dry_run: true },
    { template },
    { message: 'Hello', from: senderNumber, dry_run: true },
    { message: 'Hello', from: senderNumber },
    { message: 'Hello', sender_pool: pool },
  ],
}
const ofCampaign: Row = { at: ['campaign', 'campaignKey'] }
const ofContact: Row = { at: ['campaign contact', 'campaignKey contact'] }
const keywords = ({ campaign, campaignKey }: Things): string[] => [`campaign=${campaign}`, `campaign=${campaignKey}`]
const ofNumber = ({ contactNumber }: Things): string[] => [`number=${contactNumber}`]
const httpCarrier = {
  kind: 'smpp',
  name: 'new',
  settings: { host: '127.0.0.1', port: 9, system_id: 'x' },
  password: 'x',
}

/** Its own account tries changes in this order, deletions last. */
export const rows: Record<string, Row> = {
  'POST /v1/auth/login': { open: login },
  'POST /v1/auth/refresh': { open: login },
  'POST /v1/auth/logout': { open: 'ends the login of the token itself, and answers 204 whatever it is' },
  'POST /v1/oauth/token': { open: login },
  'POST /v1/auth/accept-invitation': { open: 'makes a user of who has the code of an invitation' },
  'GET /v1/errors': { open: 'is documentation' },
  'GET /healthz': { open: 'is for load balancers' },
  'GET /metrics': { open: 'asks for a scope itself, where Prometheus has no token of its own' },
  'GET /l/*': { open: 'is for the people who got a message: whoever has a code may follow it' },
  'POST /carriers/:carrier/:token/receipts': { open: 'is for HTTP carriers, by a secret in the address' },
  'GET /carriers/:carrier/:token/receipts': { open: 'is for HTTP carriers, by a secret in the address' },
  'POST /carriers/:carrier/:token/replies': { open: 'is for HTTP carriers, by a secret in the address' },
  'GET /carriers/:carrier/:token/replies': { open: 'is for HTTP carriers, by a secret in the address' },

  'GET /v1/api-keys': {},
  'POST /v1/api-keys': { bodies: () => [{ name: 'Another' }] },
  'GET /v1/api-keys/:id': { at: ['key', 'ownKey'] },
  'PATCH /v1/api-keys/:id': { at: 'key', bodies: () => [{ name: 'Renamed' }] },
  'POST /v1/api-keys/:id/rotate': { at: 'key' },
  'DELETE /v1/api-keys/:id': { at: 'key' },
  'GET /v1/users': {},
  'GET /v1/users/invitations': {},
  'GET /v1/users/:id': { at: ['user', 'member'] },
  'POST /v1/users/invitations': { bodies: () => [{ email: 'another@example.com', role: 'viewer' }] },
  'PATCH /v1/users/:id': { at: 'member', bodies: () => [{ role: 'sender' }] },
  'DELETE /v1/users/invitations/:id': { at: 'invitation' },
  'DELETE /v1/users/:id': { at: 'member' },
  'GET /v1/users/me': person,
  'PATCH /v1/users/me': { bodies: () => [{ password: 'x', current_password: 'x' }], ...person },
  'POST /v1/users/me/confirm': { bodies: () => [{ password: 'x' }], ...person },
  'POST /v1/users/me/totp': { bodies: () => [{ password: 'x' }], ...person },
  'POST /v1/users/me/totp/confirm': { bodies: () => [{ otp: '123456' }], ...person },
  'DELETE /v1/users/me/totp': { bodies: () => [{ otp: '123456' }], ...person },
  'GET /v1/accounts': {},
  'POST /v1/accounts': { bodies: () => [{ name: 'Another', key: { name: 'Its key' } }] },
  'GET /v1/accounts/:id': { at: ['account', 'subaccount'] },
  'PATCH /v1/accounts/:id': { at: ['account', 'subaccount'], bodies: () => [{ pace: 100 }] },
  'POST /v1/accounts/:id/close': { at: 'subaccount', bodies: () => [{ webhooks: 'stop' }] },
  'POST /v1/accounts/:id/reopen': { at: 'subaccount' },
  'POST /v1/accounts/:id/api-keys': { at: 'subaccount', bodies: () => [{ name: 'Its other key' }] },
  'GET /v1/settings': {},
  'PATCH /v1/settings': { bodies: () => [{ on_unknown: 'hold' }] },
  'POST /v1/settings/rotate-data-key': {},

  'GET /v1/deprecations': {},
  'GET /v1/audit-events': { queries: ({ user, key }) => [`actor=${user}`, `target=${key}`] },
  'GET /v1/audit-events/verify': {},

  'POST /v1/messages/send': message,
  'POST /v1/messages': message,
  'POST /v1/messages/batch': messages,
  'POST /v1/messages/preview': { bodies: () => [{ message: 'Hello' }] },
  'GET /v1/messages': listed,
  'GET /v1/messages/export': listed,
  'GET /v1/messages/:id': { at: ['message', 'reply'] },
  'GET /v1/messages/:id/events': { at: ['message', 'reply'] },
  'GET /v1/messages/:id/explain': { at: 'message' },
  'GET /v1/messages/:id/links': { at: 'message' },
  'POST /v1/messages/:id/resend': { at: 'message' },
  'POST /v1/messages/:id/cancel': { at: 'message' },
  'POST /v1/messages/:id/redact': { at: ['message', 'reply'] },
  'GET /v1/erasures': {},
  'POST /v1/erasures': { bodies: () => [{ number: '15551239994', reason: 'Another' }] },
  'GET /v1/erasures/:id': { at: 'erasure' },

  'GET /v1/conversations': {
    queries: ({ senderNumber, contactNumber, user }) => [
      `our_number=${senderNumber}`,
      `their_number=${contactNumber}`,
      `assignee=${user}`,
    ],
  },
  'GET /v1/conversations/:conversation': { at: 'conversation' },
  'GET /v1/conversations/:conversation/messages': { at: 'conversation' },
  'POST /v1/conversations/:conversation/messages': { at: 'conversation', bodies: ({ template }) => [{ template }] },
  'POST /v1/conversations/:conversation/read': {
    at: 'conversation',
    bodies: ({ reply }) => [{ last_message: reply }],
  },
  'PATCH /v1/conversations/:conversation': { at: 'conversation', bodies: ({ user }) => [{ assignee: user }] },

  'GET /v1/opt-outs': {},
  'GET /v1/opt-outs/:number': { at: 'optedOut' },
  'POST /v1/opt-outs': { bodies: () => [{ number: '15551239998' }] },
  'POST /v1/opt-outs/check': { bodies: () => [{ numbers: ['15551239998'] }] },
  'GET /v1/opt-outs/export': {},
  'POST /v1/opt-outs/import': { bodies: () => [{ opt_outs: [{ number: '15551239997' }] }] },
  'GET /v1/opt-outs/keywords': { queries: keywords },
  'PUT /v1/opt-outs/keywords': { queries: keywords, bodies: () => [{ on_suspicion: 'flag' }] },
  'GET /v1/opt-outs/suspected': {},
  'POST /v1/opt-outs/suspected/:message': { at: 'reply', bodies: () => [{ action: 'dismiss' }] },
  'POST /v1/opt-outs/:number/forget': { at: 'optedOut' },
  'DELETE /v1/opt-outs/:number': { at: 'optedOut', query: 'reason=asked' },
  'GET /v1/consent': { query: 'number=15551239998', queries: ofNumber },
  'GET /v1/consent/export': { query: 'number=15551239998', queries: ofNumber },
  'POST /v1/consent': { bodies: ({ campaign }) => [{ number: '15551239996', status: 'opted_in', campaign }] },

  'GET /v1/carriers': operator,
  'GET /v1/carriers/:id': { at: 'carrier', ...operator },
  'POST /v1/carriers': { bodies: () => [httpCarrier], ...operator },
  'PATCH /v1/carriers/:id': { at: 'carrier', bodies: () => [{ pace: 5 }], ...operator },
  'GET /v1/carriers/:id/links': { at: 'carrier', ...operator },
  'POST /v1/carriers/:id/links': { at: 'carrier', bodies: () => [{ enabled: false }], ...operator },
  'GET /v1/carriers/:id/mappings': { at: 'carrier', ...operator },
  'PUT /v1/carriers/:id/mappings': { at: 'carrier', bodies: () => [{ mappings: [] }], ...operator },
  'PATCH /v1/carriers/:id/mappings': { at: 'carrier', bodies: () => [{ mappings: [] }], ...operator },
  'GET /v1/orphan-replies': operator,
  'POST /v1/orphan-replies/:id/give': {
    at: 'carrier',
    isRefused: true,
    bodies: () => [{ sender: 'snd_none' }],
    ...operator,
  },
  'POST /v1/orphan-replies/:id/dismiss': { at: 'carrier', isRefused: true, ...operator },
  'GET /v1/carriers/:id/doctor': { at: 'carrier', ...operator },
  'POST /v1/carriers/:id/doctor/rematch': { at: 'carrier', ...operator },
  'GET /v1/carriers/:id/receipts': { at: 'carrier', query: 'unmatched=true', ...operator },
  'GET /v1/carriers/:id/rates': { at: 'carrier', ...operator },
  'PUT /v1/carriers/:id/rates': { at: 'carrier', bodies: () => [{ rates: [] }], ...operator },
  'POST /v1/carriers/:id/rates/test': { at: 'carrier', bodies: () => [{ to: '15551239995' }], ...operator },
  'DELETE /v1/carriers/:id/mappings': { at: 'carrier', ...operator },
  'DELETE /v1/carriers/:id': { at: 'carrier', ...operator },
  'GET /v1/links/:id': { at: 'link', ...operator },
  'PATCH /v1/links/:id': { at: 'link', bodies: () => [{ enabled: false }], ...operator },
  'DELETE /v1/links/:id': { at: 'link', ...operator },
  'GET /v1/queue': operator,
  'GET /v1/alerts': {},

  'GET /v1/senders': { queries: ({ senderNumber, subaccount }) => [`number=${senderNumber}`, `account=${subaccount}`] },
  'GET /v1/senders/:id': { at: 'sender' },
  'POST /v1/senders': {
    bodies: ({ carrier, subaccount }) => [
      { number: '15557650009', carrier },
      { number: '15557650010', carrier, account: subaccount },
    ],
  },
  'PATCH /v1/senders/:id': { at: 'sender', bodies: () => [{ pace: 5 }] },
  'DELETE /v1/senders/:id': { at: 'sender' },
  'GET /v1/sender-pools': {},
  'GET /v1/sender-pools/:id': { at: 'pool' },
  'POST /v1/sender-pools': { bodies: ({ sender }) => [{ name: 'Another', senders: [{ sender }] }] },
  'PATCH /v1/sender-pools/:id': { at: 'pool', bodies: ({ sender }) => [{ senders: [{ sender }] }] },
  'DELETE /v1/sender-pools/:id': { at: 'pool' },

  'GET /v1/routes': operator,
  'GET /v1/routes/:id': { at: 'route', ...operator },
  'POST /v1/routes': { bodies: ({ carrier }) => [{ match: { type: 'otp' }, carriers: [{ carrier }] }], ...operator },
  'POST /v1/routes/test': { bodies: () => [{ to: '15551239995' }], ...operator },
  'PATCH /v1/routes/:id': { at: 'route', bodies: () => [{ name: 'Renamed' }], ...operator },
  'POST /v1/routes/reorder': { bodies: () => [{ routes: [] }], ...operator, isRefused: true },
  'DELETE /v1/routes/:id': { at: 'route', ...operator },

  'POST /v1/campaigns': { bodies: ({ senderNumber }) => [{ name: 'Another', from: senderNumber }] },
  'GET /v1/campaigns': {},
  'GET /v1/campaigns/:campaign': ofCampaign,
  'PATCH /v1/campaigns/:campaign': { ...ofCampaign, bodies: () => [{ pace: 5 }] },
  'POST /v1/campaigns/:campaign/contacts': { ...ofCampaign, bodies: () => [{ phone_number: '15551239994' }] },
  'POST /v1/campaigns/:campaign/contacts/import': {
    ...ofCampaign,
    bodies: () => ['phone_number\n15551239993\n'],
    type: 'text/csv',
  },
  'GET /v1/campaigns/:campaign/contacts': ofCampaign,
  'GET /v1/campaigns/:campaign/stats': ofCampaign,
  'GET /v1/campaigns/:campaign/stats/export': ofCampaign,
  'GET /v1/usage': { queries: ({ subaccount }) => [`account=${subaccount}`] },
  'GET /v1/summary': {},
  'GET /v1/series': {
    queries: ({ campaign, broadcast, webhook }) => [
      `by=campaign&id=${campaign}`,
      `by=broadcast&id=${broadcast}`,
      `by=webhook&id=${webhook}`,
    ],
  },
  'GET /v1/campaigns/:campaign/contacts/export': ofCampaign,
  'GET /v1/campaigns/:campaign/contacts/:contact': ofContact,
  'PATCH /v1/campaigns/:campaign/contacts/:contact': { ...ofContact, bodies: () => [{ last_name: 'New' }] },
  'DELETE /v1/campaigns/:campaign/contacts/:contact': ofContact,
  'GET /v1/campaigns/:campaign/imports': ofCampaign,
  'GET /v1/imports/:import': { at: 'import' },
  'GET /v1/imports/:import/errors': { at: 'import' },
  'POST /v1/imports/:import/cancel': { at: 'import' },
  'GET /v1/broadcasts': {},
  'GET /v1/broadcasts/:id': { at: 'broadcast' },
  'GET /v1/campaigns/:campaign/broadcasts': ofCampaign,
  'POST /v1/broadcasts/:id/approve': { at: 'unapproved' },
  'POST /v1/broadcasts/:id/reject': { at: 'unapprovedToo', bodies: () => [{ reason: 'no' }] },
  'POST /v1/broadcasts/:id/withdraw': { at: 'unwithdrawn' },
  'POST /v1/campaigns/:campaign/send': order,
  'POST /v1/campaigns/:campaign/pause': ofCampaign,
  'POST /v1/campaigns/:campaign/resume': ofCampaign,
  'POST /v1/campaigns/:campaign/cancel': ofCampaign,
  'POST /v1/campaigns/:campaign/archive': ofCampaign,

  'GET /v1/guards': {},
  'GET /v1/guards/limits': {},
  'POST /v1/guards/:id/release': { at: 'guard', bodies: () => [{ reason: 'wanted' }] },

  'POST /v1/templates': { bodies: () => [{ name: 'another', body: 'Hello' }] },
  'GET /v1/templates': {},
  'GET /v1/templates/:template': { at: ['template', 'templateName'] },
  'PATCH /v1/templates/:template': { at: ['template', 'templateName'], bodies: () => [{ body: 'Changed' }] },
  'POST /v1/templates/:template/preview': {
    at: ['template', 'templateName'],
    bodies: ({ campaign, contact, campaignKey, contactNumber }) => [
      { campaign, contact },
      { campaign: campaignKey, contact: contactNumber },
    ],
  },
  'DELETE /v1/templates/:template': { at: ['template', 'templateName'] },

  'GET /v1/smpp-credentials': {},
  'POST /v1/smpp-credentials': { bodies: () => [{ name: 'Another' }] },
  'GET /v1/smpp-credentials/:id': { at: 'credential' },
  'PATCH /v1/smpp-credentials/:id': { at: 'credential', bodies: () => [{ enabled: false }] },
  'POST /v1/smpp-credentials/:id/rotate-password': { at: 'credential' },
  'DELETE /v1/smpp-credentials/:id': { at: 'credential' },

  'GET /v1/twilio-credentials': {},
  'POST /v1/twilio-credentials': { bodies: () => [{ name: 'Another' }] },
  'DELETE /v1/twilio-credentials/:id': { at: 'twilioCredential' },
  'GET /2010-04-01/Accounts/:accountSid.json': twilio,
  'GET /2010-04-01/Accounts/:accountSid/Messages.json': twilio,
  'POST /2010-04-01/Accounts/:accountSid/Messages.json': twilio,
  'GET /2010-04-01/Accounts/:accountSid/Messages/:sid.json': twilio,
  'POST /2010-04-01/Accounts/:accountSid/Messages/:sid.json': twilio,

  'POST /v1/webhooks': { bodies: () => [{ url: 'http://127.0.0.1:9/another' }] },
  'GET /v1/webhooks': {},
  'GET /v1/webhooks/receiver': {},
  'GET /v1/webhooks/:id': { at: 'webhook' },
  'PATCH /v1/webhooks/:id': { at: 'webhook', bodies: () => [{ description: 'Changed' }] },
  'POST /v1/webhooks/:id/test': { at: 'webhook' },
  'GET /v1/webhooks/:id/deliveries': { at: 'webhook' },
  'POST /v1/webhooks/:id/rotate-secret': { at: 'webhook' },
  'POST /v1/webhooks/callback-secret/rotate': {},
  'POST /v1/webhooks/:id/replay': { at: 'webhook', bodies: () => [{ since: today }] },
  'GET /v1/webhooks/:id/replays': { at: 'webhook' },
  'GET /v1/webhooks/:id/replays/:replay': { at: 'webhook replay' },
  'POST /v1/webhooks/:id/replays/:replay/cancel': { at: 'webhook replay' },
  'DELETE /v1/webhooks/:id': { at: 'webhook' },
  'GET /v1/events': { queries: ({ message, event }) => [`message=${message}`, `after=${event}`, 'after=start'] },
  'GET /v1/events/stream': {
    query: 'max_seconds=0',
    queries: ({ message, event }) => [`max_seconds=0&message=${message}`, `max_seconds=0&after=${event}`],
  },
  'GET /v1/events/:id': { at: 'event' },
  'GET /v1/events/:id/deliveries': { at: 'event' },
  'POST /v1/events/:id/redeliver': { at: 'event' },
}

/** Areas of scopes for routes, by their first path segment. */
export const areas: Record<string, readonly string[]> = {
  'api-keys': ['keys'],
  users: ['users', 'profile'],
  accounts: ['accounts'],
  settings: ['settings'],
  'audit-events': ['audit'],
  deprecations: ['keys'],
  messages: ['messages'],
  conversations: ['messages'],
  'opt-outs': ['messages', 'contacts', 'settings'],
  erasures: ['privacy'],
  consent: ['contacts'],
  carriers: ['carriers'],
  links: ['carriers'],
  'orphan-replies': ['carriers'],
  queue: ['carriers'],
  alerts: ['events'],
  // An account sees its numbers; the operator assigns them.
  senders: ['settings', 'carriers'],
  'sender-pools': ['settings'],
  routes: ['routes'],
  campaigns: ['campaigns', 'contacts'],
  imports: ['contacts'],
  broadcasts: ['campaigns'],
  guards: ['settings'],
  templates: ['campaigns'],
  'smpp-credentials': ['smpp'],
  'twilio-credentials': ['keys'],
  usage: ['usage'],
  series: ['usage'],
  summary: ['messages'],
  webhooks: ['webhooks'],
  events: ['events', 'webhooks'],
}

/** Routes whose scope has its own verb: write scopes do not include them. */
export const ownVerbs: Record<string, string> = {
  'POST /v1/broadcasts/:id/approve': 'approve',
  'POST /v1/broadcasts/:id/reject': 'approve',
}

/** POST routes that change nothing. */
export const questions: Record<string, Scope> = {
  'POST /v1/messages/preview': 'messages:read',
  'POST /v1/opt-outs/check': 'messages:read',
  'POST /v1/routes/test': 'routes:read',
  'POST /v1/carriers/:id/rates/test': 'carriers:read',
  'POST /v1/templates/:template/preview': 'campaigns:read',
}
