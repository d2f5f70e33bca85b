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

/** By message_state, 0 to 9 (SMPP 3.4 §5.2.28; 0 and 9 are of 5.0 §4.7.15). */
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

/** The state words of a receipt's text (SMPP 3.4 appendix B). */
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

export function isLastState(state: ReceiptState): boolean {
  return state === 'delivered' || isFailure(state)
}

export function isFailure(state: ReceiptState): boolean {
  return state === 'expired' || state === 'deleted' || state === 'undeliverable' || state === 'rejected'
}

/** Prefixes of carriers' words; the first match counts. */
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

/** The state for a carrier's word, in any case and spelling, or for a digit of message_state; null if unknown. */
export function stateOfWord(word: string): ReceiptState | null {
  if (/^0?[0-9]$/.test(word)) return MESSAGE_STATES[Number(word)] ?? null
  const upper = word.toUpperCase()
  // DELIVERY_FAILED and DeliveryImpossible share a prefix with the delivered words; NOT_DELIVERED has a prefix of its own.
  if (/FAIL|IMPOSSIBLE|^NO[NT].?DELIV/.test(upper)) return 'undeliverable'
  for (const [beginning, state] of BEGINNINGS) if (upper.startsWith(beginning)) return state
  // Such as DND_REJECTED and NCPR-REJECTED.
  return upper.includes('REJECT') ? 'rejected' : null
}
