/** How long to wait before dialling again, by what ended the session (SMPP 3.4 §5.1.3; the lessons of other gateways). */
import { ESME, type CloseReason } from '@heliogram/smpp'

// Credentials do not mend themselves within seconds, and repeated wrong logins get addresses blocked. A change of the link's settings
// dials at once.
const credentialsMs = 60_000
const credentialsLongestMs = 10 * 60_000
// "Already bound": the carrier still holds the session that we lost, until its own timer.
const alreadyBoundMs = 30_000
const firstMs = 1000
const longestMs = 60_000

/** Losses in a row, those by wrong credentials apart: a carrier that was away for long and then refuses a password once is asked again in a minute. */
export interface Losses {
  credentials: number
  others: number
}

export const noLosses = (): Losses => ({ credentials: 0, others: 0 })

/** Whether a session ended because the carrier does not know us by what we say, or we cannot say it. */
export function isOfCredentials(reason: CloseReason, bindStatus: number): boolean {
  if (reason === 'bind_invalid') return true
  const statuses = [ESME.RINVPASWD, ESME.RINVSYSID, ESME.RINVSYSTYP]
  return reason === 'bind_refused' && statuses.some((status) => status === bindStatus)
}

/** Milliseconds; doubles with each failure of its kind in a row, with ±20 % of chance so that many links do not dial as one. */
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
  // A session that was up and went is mostly a restart of the other side: ask again soon.
  if (wasBound && failures === 0) return 250 * jitter
  return Math.min(longestMs, firstMs * 2 ** Math.min(failures, 10)) * jitter
}
