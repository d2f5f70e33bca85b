/** Event types of the API, in the words of its documents. */
import type { Events } from '@heliogram/sdk'

export type EventType = keyof Events

const meanings: Record<EventType, string> = {
  'message.delivered': 'The network confirmed delivery.',
  'message.failed': 'The message will not be delivered; its error says why.',
  'message.received': 'A person sent a message to one of your numbers.',
  'message.queued': 'The message was accepted.',
  'message.scheduled': 'The message was accepted for a later time.',
  'message.sent': 'The carrier accepted every segment.',
  'message.canceled': 'The message was canceled before it was sent.',
  'message.unconfirmed': 'The outcome is unknown; a late receipt may still settle it.',
  'contact.opted_out': 'A person opted out.',
  'contact.opted_in': 'A person opted in again.',
  'contact.opt_out_suspected': 'A reply may mean STOP; a person should review it.',
  'campaign.completed': 'The last message of a broadcast was sent.',
  'campaign.approval_needed': 'A broadcast needs approval by somebody else.',
  'campaign.approved': 'A broadcast was approved.',
  'campaign.rejected': 'A broadcast was rejected; nothing is sent.',
  'campaign.withdrawn': 'A broadcast was withdrawn; nothing is sent.',
  'campaign.held': 'A broadcast waits because it reached a guard.',
  'guard.tripped': 'A guard has stopped messages; sent once, not for each message.',
  'guard.released': 'A guard was released, or its limit changed.',
  'spend.limit_reached': 'A daily limit has stopped messages.',
  'import.completed': 'An import of contacts has ended.',
  'link.clicked': 'A person clicked a short link for the first time.',
  'link.down': 'A link has had no session for ten seconds.',
  'link.up': 'A link that was down has been up for ten seconds.',
  'link.throttled': 'A carrier has throttled a link for half a minute.',
  'link.recovered': 'A throttled link has its full pace again.',
  'sender.degraded': 'Less than 70% of a sender’s messages are delivered.',
  'sender.recovered': 'At least 80% of such a sender’s messages are delivered again.',
  'webhook.failing': 'Every delivery to a webhook has failed for ten seconds.',
  'webhook.recovered': 'A failing webhook works again.',
  'reply.orphaned': 'A reply arrived for a number that no account has.',
  'webhook.answer_refused': 'A TwiML response to an incoming message was refused, in whole or in part.',
  'webhook.disabled': 'A webhook was disabled.',
  'webhook.test': 'A test event that somebody requested.',
}

const isType = (text: string): text is EventType => Object.hasOwn(meanings, text)

export const eventTypes = Object.keys(meanings).filter(isType)

/** Always recorded; the default of webhooks. */
export const contractTypes: readonly EventType[] = ['message.delivered', 'message.failed', 'message.received']

export const meaningOf = (type: string): string | undefined => (isType(type) ? meanings[type] : wide[type])

const titleOf: Record<string, string> = {
  message: 'Messages',
  contact: 'Contacts',
  import: 'Contacts',
  campaign: 'Campaigns',
  guard: 'Guards',
  spend: 'Guards',
  link: 'Delivery',
  sender: 'Delivery',
  reply: 'Delivery',
  webhook: 'Webhooks',
}

type Family = EventType extends `${infer Name}.${string}` ? Name : never
/** A webhook's subscription: a type, a family, or everything. */
export type EventPattern = EventType | `${Family}.*` | '*'

const familyOf = (type: EventType) => type.split('.', 1)[0] as Family
const groupOf = (type: EventType) => (type === 'link.clicked' ? 'Campaigns' : titleOf[familyOf(type)])

const families = [...new Set(eventTypes.map(familyOf))]
const wide: Record<string, string> = {
  '*': 'All events, and those that later versions add.',
  ...Object.fromEntries(
    families.map((name) => {
      const elsewhere = eventTypes.filter((type) => familyOf(type) === name && groupOf(type) !== titleOf[name])
      const including = elsewhere.map((type) => `, including ${type} of ${groupOf(type)}`).join('')
      return [`${name}.*`, `All ${name} events${including}, and those that later versions add.`]
    }),
  ),
}

const isPattern = (text: string): text is EventPattern => isType(text) || Object.hasOwn(wide, text)

export const patternsOf = (texts: readonly string[]): EventPattern[] => texts.filter(isPattern)

export const eventGroups = [...new Set(Object.values(titleOf))].map((title) => ({
  title,
  choices: eventTypes.filter((type) => groupOf(type) === title).map((value) => ({ value, about: meanings[value] })),
}))

/** With families and everything, for subscriptions. */
export const patternGroups: { title: string; choices: { value: EventPattern; about: string }[] }[] = [
  { title: 'Everything', choices: [{ value: '*', about: wide['*'] ?? '' }] },
  ...eventGroups.map(({ title, choices }) => ({
    title,
    choices: [
      ...families
        .filter((name) => titleOf[name] === title)
        .map((name) => ({ value: `${name}.*` as const, about: wide[`${name}.*`] ?? '' })),
      ...choices,
    ],
  })),
]
