import type { RouteRow } from './store.ts'
import type { RuleMiss } from './route.ts'
import type { RoutePlan } from './routing.ts'
import type { SenderChoice, SenderFault } from '../senders/sender.ts'

const misses: Record<RuleMiss, string> = {
  disabled: 'The route is disabled.',
  account: 'It is for another account.',
  campaign: 'It is for another campaign.',
  type: 'It is for another type of messages.',
  country: "The recipient's country is not among its countries.",
  prefix: "The recipient's number has none of its prefixes.",
  sender: 'The sender is not among its senders.',
  sender_carrier: 'The account has the sender at none of its carriers.',
  max_cost: 'The message would cost more than max_cost at each of its carriers, or its cost is unknown.',
}

export const explainMiss = (miss: RuleMiss): string => misses[miss]

const faults: Record<SenderFault, string> = {
  alphanumeric_forbidden: "Networks in the recipient's country do not show names as senders.",
  country_not_reached: 'It reaches only its own country.',
  cannot_send: 'It does not have the capability sms.',
}

export const explainSenderFault = (fault: SenderFault): string => faults[fault]

const senderRules: Record<SenderChoice['rule'], string> = {
  from: 'The message or its campaign names it.',
  pool_sticky: 'The recipient knows it from this pool.',
  pool_weight: 'It was chosen by weight from the pool.',
  default: "It is the account's default.",
  instead_of_default: "The account's default cannot be used for this recipient; this one can.",
  none: "The account has no default: the carrier's own sender is used.",
  sender_not_found: 'The account has no such sender.',
  sender_not_allowed: 'None of the possible senders can be used for this recipient.',
}

export const explainSender = ({ rule }: SenderChoice): string => senderRules[rule]

/** `isUp`: a carrier of its chain has a session. */
export function explainOutcome(plan: RoutePlan, route: RouteRow | null, isUp: boolean): string {
  const name = route ? `The route at position ${route.position}` : 'The default route'
  switch (plan.refusal) {
    case 'campaign_not_found':
      return 'The account has no such campaign.'
    case 'pool_not_found':
      return 'The account has no such sender pool.'
    case 'sender_not_found':
    case 'sender_not_allowed':
      return explainSender(plan.sender)
    case 'no_route_available':
      return route ? `${name} matches and has no carriers, so it refuses the message.` : 'There is no carrier for it.'
    case 'test_mode_unavailable':
      return 'Test mode is turned off.'
    case 'premium_number_not_allowed':
      return 'It is a premium number, which the account does not allow.'
    case null:
      if (plan.choice.isHeld) return `${name} matches; the message waits until one of the carriers is enabled.`
      if (!isUp) return `${name} matches; the message waits until one of the carriers is bound.`
      return route ? `${name} matches.` : `No route matches: ${name.toLowerCase()} is used, best carrier first.`
    default:
      return plan.refusal satisfies never
  }
}
