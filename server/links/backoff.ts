/** Delays before dialling again, by the end of the session (SMPP 3.4 §5.1.3; the experience of other gateways). */
import { ESME, type CloseReason } from '@heliogram/smpp'

// Wrong credentials need an operator, and repeated failed logins get addresses blocked. A change of the link's settings dials at once.
const credentialsMs = 60_000
const credentialsLongestMs = 10 * 60_000
// "Already bound": the carrier keeps the lost session until its own timer expires.
const alreadyBoundMs = 30_000
const firstMs = 1000
const longestMs = 60_000

/** Consecutive losses, with wrong credentials counted apart: after a long outage of the carrier, one refused password costs only a minute. */
export interface Losses {
  credentials: number
  others: number
}

export const noLosses = (): Losses => ({ credentials: 0, others: 0 })

/** Whether a session ended because the carrier rejects our credentials, or we cannot send them. */
export function isOfCredentials(reason: CloseReason, bindStatus: number): boolean {
  if (reason === 'bind_invalid') return true
  const statuses = [ESME.RINVPASWD, ESME.RINVSYSID, ESME.RINVSYSTYP]
  return reason === 'bind_refused' && statuses.some((status) => status === bindStatus)
}

/** Milliseconds; doubles with each consecutive failure of its kind, with ±20 % of jitter so that many links do not dial at once. */
export function backOffMs(
  failures: number,
  reason: CloseReason,
  bindStatus: number,
  wasBound: boolean,
  random: () => number = Math.random,
): number {
  const jitter = 0.8 + 0.4 * random()
  if (isOfCredentials(reason, bindStatus))
    return Math.min(credentialsLongestMs, credentialsMs * 2 ** Math.min(failures, 10)) * jitter
  if (reason === 'bind_refused' && bindStatus === ESME.RALYBND) return alreadyBoundMs * jitter
  // A session that was up and closed is mostly a restart of the carrier: retry soon.
  if (wasBound && failures === 0) return 250 * jitter
  return Math.min(longestMs, firstMs * 2 ** Math.min(failures, 10)) * jitter
}
