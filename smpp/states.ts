/** What became of a message at the carrier. */
export type ReceiptState =
  | 'scheduled'
  | 'enroute'
  | 'delivered'
  | 'expired'
  | 'deleted'
  | 'undeliverable'
  | 'accepted'
  | 'unknown'
  | 'rejected'
  | 'skipped'

/** States by the value of message_state, 0 to 9 (SMPP 3.4 §5.2.28; 0 and 9 are of 5.0 §4.7.15). */
export const MESSAGE_STATES: readonly ReceiptState[] = [
  'scheduled',
  'enroute',
  'delivered',
  'expired',
  'deleted',
  'undeliverable',
  'accepted',
  'unknown',
  'rejected',
  'skipped',
]

/** The word of each state in a receipt's text (SMPP 3.4 appendix B). */
export const STATE_WORDS: Readonly<Record<ReceiptState, string>> = {
  scheduled: 'SCHEDLD',
  enroute: 'ENROUTE',
  delivered: 'DELIVRD',
  expired: 'EXPIRED',
  deleted: 'DELETED',
  undeliverable: 'UNDELIV',
  accepted: 'ACCEPTD',
  unknown: 'UNKNOWN',
  rejected: 'REJECTD',
  skipped: 'SKIPPED',
}

/** Whether nothing more is expected of a message in this state. */
export function isLastState(state: ReceiptState): boolean {
  return state === 'delivered' || isFailure(state)
}

/** Whether the state means that the message will not arrive. */
export function isFailure(state: ReceiptState): boolean {
  return state === 'expired' || state === 'deleted' || state === 'undeliverable' || state === 'rejected'
}

/** How the words of carriers begin; the first that fits counts. */
const BEGINNINGS: readonly (readonly [string, ReceiptState])[] = [
  ['DELIV', 'delivered'],
  ['DLVRD', 'delivered'],
  ['UNDEL', 'undeliverable'],
  ['UNROUT', 'undeliverable'],
  ['UNREACH', 'undeliverable'],
  ['EXPIR', 'expired'],
  ['DELET', 'deleted'],
  ['CANCEL', 'deleted'],
  ['ACCEP', 'accepted'],
  ['ACKED', 'accepted'],
  ['UNKNOW', 'unknown'],
  ['REJ', 'rejected'],
  ['BLACK', 'rejected'],
  ['BLOCK', 'rejected'],
  ['ENRO', 'enroute'],
  ['BUFFE', 'enroute'],
  ['QUEUE', 'enroute'],
  ['SCHED', 'scheduled'],
  ['SKIP', 'skipped'],
]

/** The state a carrier's word means, in any case and spelling, or a digit of message_state; null when it says nothing. */
export function stateOfWord(word: string): ReceiptState | null {
  if (/^0?[0-9]$/.test(word)) return MESSAGE_STATES[Number(word)] ?? null
  const upper = word.toUpperCase()
  // DELIVERY_FAILED, DeliveryImpossible and their like begin as what was delivered does; NOT_DELIVERED, as nothing else.
  if (/FAIL|IMPOSSIBLE|^NO[NT].?DELIV/.test(upper)) return 'undeliverable'
  for (const [beginning, state] of BEGINNINGS) if (upper.startsWith(beginning)) return state
  // DND_REJECTED, NCPR-REJECTED and their like.
  return upper.includes('REJECT') ? 'rejected' : null
}
