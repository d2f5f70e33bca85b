/** Sends one message: its request, repetitions if the carrier recognizes them, and the outcome of its segments. */
import type { Reason } from '../message/taxonomy.ts'
import type { SegmentEnd } from '../links/attempt.ts'
import type { HttpSettings } from '../links/carrier-settings.ts'
import type { OutMessage, Secrets, SendAnswer } from './adapter.ts'
import { adapters } from './adapters.ts'
import type { Exchange, Exchanger } from './exchange.ts'

/** The carrier's answer, or how the request ended without one. */
export type SendOutcome = SendAnswer | Exclude<Exchange, { kind: 'answered' }>

// Waits before a request is repeated with its idempotency key, in milliseconds.
const repeatsMs = [500, 2000]

/** Asks `mayRepeat` before each repetition; without it nothing is sent twice. */
export async function sendMessage(
  exchanger: Exchanger,
  message: OutMessage,
  settings: HttpSettings,
  secrets: Secrets,
  mayRepeat: () => boolean,
): Promise<SendOutcome> {
  const adapter = adapters[settings.adapter]
  const request = adapter.send(message, settings, secrets)
  const once = async (): Promise<SendOutcome> => {
    const exchange = await exchanger.exchange(request)
    return exchange.kind === 'answered' ? adapter.readAnswer(exchange.answer, message, settings) : exchange
  }
  let outcome = await once()
  if (adapter.isIdempotent?.(settings) !== true) return outcome
  for (const ms of repeatsMs) {
    if (outcome.kind !== 'lost' && outcome.kind !== 'unknown') break
    await new Promise((resolve) => setTimeout(resolve, ms))
    if (!mayRepeat()) break
    const again = await once()
    if (isTelling(again)) outcome = again
  }
  return outcome
}

/**
 * Whether the result of a repetition holds for the first request. A repetition that was not sent or was put off (too fast, no credit, a changed key)
 * proves nothing: the next try has another reference, and would be a second message.
 */
function isTelling(again: SendOutcome): boolean {
  if (again.kind === 'refused') return again.reason.handling === 'permanent' && !again.isLinkFault
  return again.kind !== 'unsent'
}

/** The outcome for a message's segments. The operator's `reasonOf` takes precedence. */
export function endOf(outcome: SendOutcome, reasonOf?: (code: string) => Reason | null): SegmentEnd {
  switch (outcome.kind) {
    case 'accepted':
      return { state: 'accepted', status: null }
    case 'unsent':
      return { state: 'released' }
    case 'lost':
      return { state: 'unknown', reason: `the carrier did not answer (${outcome.reason})` }
    case 'unknown':
      return { state: 'unknown', reason: outcome.reason }
    case 'refused': {
      const { code, retryAfterMs } = outcome
      return { state: 'refused', status: null, raw: code, reason: reasonOf?.(code) ?? outcome.reason, retryAfterMs }
    }
    case 'invalid': {
      const reason: Reason = { code: 'provider_error', handling: 'permanent' }
      return { state: 'refused', status: null, raw: outcome.reason, reason, retryAfterMs: null }
    }
    default:
      return outcome satisfies never
  }
}
