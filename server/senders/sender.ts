/** Chooses the sender of a message: a pure function of the account's senders. */
import { rankByWeight } from './weight.ts'

export const senderKinds = ['long_code', 'short_code', 'toll_free', 'alphanumeric'] as const
export type SenderKind = (typeof senderKinds)[number]

/**
 * `sms`: send. `replies`: recipients can answer. `international`: a short code or toll-free number that reaches other countries; long codes
 * and names always do.
 */
export const senderCapabilities = ['sms', 'replies', 'international'] as const
export type SenderCapability = (typeof senderCapabilities)[number]

/** One number may have several senders, each at its own carrier. */
export interface Sender {
  id: string
  carrierId: string
  number: string
  kind: SenderKind
  /** ISO 3166-1 alpha-2; null: unknown or none. */
  country: string | null
  capabilities: readonly SenderCapability[]
  isDefault: boolean
}

export interface AccountSenders {
  /** Oldest first. */
  all: readonly Sender[]
  byId: ReadonlyMap<string, Sender>
  byNumber: ReadonlyMap<string, readonly Sender[]>
  byDefault: Sender | null
}

export function indexSenders(all: readonly Sender[]): AccountSenders {
  return {
    all,
    byId: new Map(all.map((sender) => [sender.id, sender])),
    byNumber: Map.groupBy(all, ({ number }) => number),
    byDefault: all.find(({ isDefault }) => isDefault) ?? null,
  }
}

/** Senders that share messages. `sticky`: a recipient keeps one; `round_robin`: message by message. */
export interface Pool {
  id: string
  strategy: 'sticky' | 'round_robin'
  members: readonly { senderId: string; weight: number }[]
}

export interface SenderWish {
  messageId: string
  /** Digits of the recipient, and their country (null: the code belongs to no country). */
  to: string
  country: string | null
  /** The sender requested by the message or its campaign. */
  from: string | null
  pool: Pool | null
  /** The recipient's last sender from this pool. */
  stickyId: string | null
}

export type SenderFault =
  /** Networks of the country show no names. */
  | 'alphanumeric_forbidden'
  /** A short code or toll-free number outside its country. */
  | 'country_not_reached'
  /** It only receives. */
  | 'cannot_send'

export interface SenderChoice {
  /** Null: refused, or the carrier's default (`none`). */
  sender: Sender | null
  rule:
    | 'from'
    | 'pool_sticky'
    | 'pool_weight'
    | 'default'
    /** The default cannot be used there; another of the account's can. */
    | 'instead_of_default'
    /** The account has no default: the carrier's is used. */
    | 'none'
    /** Refused: the account has no such sender. */
    | 'sender_not_found'
    /** Refused: no requested sender can be used for this recipient. */
    | 'sender_not_allowed'
  passedOver: { sender: Sender; fault: SenderFault }[]
}

/**
 * Chooses a sender: the requested one; else from the pool the recipient's last one, or one by weight; else the default. A pool prefers
 * senders of the recipient's country.
 */
export function chooseSender(senders: AccountSenders, wish: SenderWish): SenderChoice {
  const passedOver: SenderChoice['passedOver'] = []
  const choice = (rule: SenderChoice['rule'], sender: Sender | null = null): SenderChoice => ({
    sender,
    rule,
    passedOver,
  })
  const usable = (candidates: readonly Sender[]): Sender[] =>
    candidates.filter((sender) => {
      const fault = faultOf(sender, wish.country)
      if (fault) passedOver.push({ sender, fault })
      return fault === null
    })

  if (wish.from !== null) {
    const named = senders.byNumber.get(wish.from)
    if (!named) return choice('sender_not_found')
    const [sender] = usable(named)
    return sender ? choice('from', sender) : choice('sender_not_allowed')
  }
  if (wish.pool) {
    const { strategy, members } = wish.pool
    const weighted = members.flatMap(({ senderId, weight }) => {
      const sender = senders.byId.get(senderId)
      return sender && usable([sender]).length > 0 ? [{ sender, weight }] : []
    })
    const known = strategy === 'sticky' ? weighted.find(({ sender }) => sender.id === wish.stickyId) : undefined
    if (known) return choice('pool_sticky', known.sender)
    const near = preferNear(weighted, ({ sender }) => sender, wish.country)
    const [first] = rankByWeight(near, ({ sender }) => sender.id, strategy === 'sticky' ? wish.to : wish.messageId)
    return first ? choice('pool_weight', first.sender) : choice('sender_not_allowed')
  }
  if (!senders.byDefault) return choice('none')
  const [sender] = usable([senders.byDefault])
  if (sender) return choice('default', sender)
  const others = usable(senders.all.filter(({ isDefault }) => !isDefault))
  const [other] = preferNear(others, (one) => one, wish.country)
  return other ? choice('instead_of_default', other) : choice('sender_not_allowed')
}

/** Items of the recipient's country, or all if there are none. */
function preferNear<T>(items: T[], senderOf: (item: T) => Sender, country: string | null): T[] {
  const near = items.filter((item) => country !== null && senderOf(item).country === country)
  return near.length > 0 ? near : items
}

/** Why a sender cannot be used for a country; null: it can, as far as is known. */
export function faultOf(
  sender: Omit<Sender, 'id' | 'carrierId' | 'isDefault'>,
  country: string | null,
): SenderFault | null {
  if (!sender.capabilities.includes('sms')) return 'cannot_send'
  if (sender.kind === 'alphanumeric')
    return country !== null && namesForbidden.has(country) ? 'alphanumeric_forbidden' : null
  if (sender.kind === 'long_code' || sender.country === null || sender.capabilities.includes('international'))
    return null
  return sender.country === country || (sender.kind === 'toll_free' && isNorthAmerican(sender.country, country))
    ? null
    : 'country_not_reached'
}

/**
 * Countries whose networks show no names: the United States, Canada and Puerto Rico (Telnyx, "Alphanumeric sender ID", country
 * restrictions), China (AWS End User Messaging, "Sender IDs"). Elsewhere names may need registration; the carrier's refusal says so.
 */
const namesForbidden: ReadonlySet<string> = new Set(['US', 'CA', 'PR', 'CN'])

// Toll-free numbers of the North American plan are shared by its members; texts from them work in the United States, Puerto Rico and Canada
// (AWS, "How to register for a US toll-free number with AWS End User Messaging").
const northAmerica: ReadonlySet<string> = new Set(['US', 'CA', 'PR'])

const isNorthAmerican = (a: string, b: string | null): boolean =>
  northAmerica.has(a) && b !== null && northAmerica.has(b)
