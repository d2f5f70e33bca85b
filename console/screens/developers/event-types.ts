/** What may happen, with what it means: every type of the API, in the words of its documents. */
import type { Events } from '@heliogram/sdk'

export type EventType = keyof Events

const meanings: Record<EventType, string> = {
  'message.delivered': 'The network confirmed the delivery.',
  'message.failed': 'The message will not be delivered; its error says why.',
  'message.received': 'A person wrote to one of your numbers.',
  'message.queued': 'The message was accepted.',
  'message.scheduled': 'The message was accepted for a later time.',
  'message.sent': 'The carrier took every segment.',
  'message.canceled': 'The message was canceled before it was sent.',
  'message.unconfirmed': 'The outcome is not known; a late receipt may still settle it.',
  'contact.opted_out': 'A person opted out.',
  'contact.opted_in': 'A person opted in again.',
  'contact.opt_out_suspected': 'A reply may mean STOP; a person should look at it.',
  'campaign.completed': 'The last message of a broadcast has left.',
  'campaign.approval_needed': 'A broadcast waits for the approval of somebody else.',
  'campaign.approved': 'A broadcast was approved.',
  'campaign.rejected': 'A broadcast was rejected; nothing of it is sent.',
  'campaign.withdrawn': 'A broadcast was withdrawn; nothing of it is sent.',
  'campaign.held': 'A broadcast waits for the end of a guard that it ran into.',
  'guard.tripped': 'A guard has stopped messages; told once, not for each.',
  'guard.released': 'A guard was released, or its limit changed.',
  'spend.limit_reached': 'A limit of the day has stopped messages.',
  'import.completed': 'An import of contacts is over.',
  'link.clicked': 'A person clicked on a short link for the first time.',
  'link.down': 'A link has had no session for ten seconds.',
  'link.up': 'A link that was down has had one again for ten seconds.',
  'link.throttled': 'A carrier has kept a link slower than its pace for half a minute.',
  'link.recovered': 'A link that was throttled has its pace again.',
  'sender.degraded': 'Less than 70 % of the messages of a sender arrive.',
  'sender.recovered': 'At least 80 % of the messages of such a sender arrive again.',
  'webhook.failing': 'An endpoint has answered nothing but failures for ten seconds.',
  'webhook.recovered': 'An endpoint that was failing answers well again.',
  'reply.orphaned': 'A reply came to a number that no account has.',
  'webhook.answer_refused': "An answer to an incoming message in Twilio's form was not done, or not all of it.",
  'webhook.disabled': 'An endpoint was disabled.',
  'webhook.test': 'A test that somebody asked for.',
}

const isType = (text: string): text is EventType => Object.hasOwn(meanings, text)

export const eventTypes = Object.keys(meanings).filter(isType)

/** Those that are always recorded, which a webhook gets that says nothing else. */
export const contractTypes: readonly EventType[] = ['message.delivered', 'message.failed', 'message.received']

/** What a type means, where it is one that this console knows. */
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
  webhook: 'Webhooks',
}

type Family = EventType extends `${infer Name}.${string}` ? Name : never
/** What a webhook subscribes to: a type, all of a family, or everything. */
export type EventPattern = EventType | `${Family}.*` | '*'

const families = [...new Set(eventTypes.map((type) => type.split('.', 1)[0] as Family))]
const wide: Record<string, string> = {
  '*': 'All events, and those that later versions add.',
  ...Object.fromEntries(
    families.map((name) => [`${name}.*`, `All ${name} events, and those that later versions add.`]),
  ),
}

const isPattern = (text: string): text is EventPattern => isType(text) || Object.hasOwn(wide, text)

/** Of texts, those that a webhook may subscribe to. */
export const patternsOf = (texts: readonly string[]): EventPattern[] => texts.filter(isPattern)

/** All types in groups, to choose from. */
export const eventGroups = [...new Set(Object.values(titleOf))].map((title) => ({
  title,
  choices: eventTypes
    .filter((type) => (type === 'link.clicked' ? 'Campaigns' : titleOf[type.split('.', 1)[0] ?? '']) === title)
    .map((value) => ({ value, about: meanings[value] })),
}))

/** The same with families and everything, for a subscription. */
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
