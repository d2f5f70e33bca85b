/** When trouble becomes an alert, and when it ends. Pure: computes the next step from the present sight and the episode so far. */

/** Kinds of trouble, which are also the types of their events. */
export type AlertType =
  | 'link.down'
  | 'link.throttled'
  | 'sender.degraded'
  | 'webhook.failing'
  | 'webhook.disabled'
  | 'reply.orphaned'

export interface Episode {
  /** Milliseconds since the trouble was first seen. */
  seenMs: number
  isOpen: boolean
  /** Milliseconds since the trouble seems to be over; null: it does not. */
  clearMs: number | null
}

/** The present state of a subject: `between` bad and good leaves an episode unchanged; `gone`: no longer watched. */
export type Sight = 'bad' | 'between' | 'good' | 'gone'

export interface Seen {
  type: AlertType
  accountId: string
  subject: string
  sight: Sight
  detail: Record<string, unknown>
}

/** `begin` and `forget` are for short trouble without an alert. `drop` ends an alert without reporting a recovery. */
export type Step = 'begin' | 'forget' | 'open' | 'reopen' | 'clear' | 'close' | 'drop' | null

/** Duration of trouble before an alert, and of its absence before the end, in milliseconds. */
export const patience: Readonly<Record<AlertType, { openMs: number; closeMs: number }>> = {
  // A session that is lost and bound again needs no alert; one that flaps is one episode.
  'link.down': { openMs: 10_000, closeMs: 10_000 },
  // A single refusal slows a link down for 20 s; only a carrier that keeps refusing prolongs it.
  'link.throttled': { openMs: 30_000, closeMs: 30_000 },
  // Its window is long enough.
  'sender.degraded': { openMs: 0, closeMs: 0 },
  // It has failed for ten seconds before it is seen (see-webhooks.ts); one that comes and goes is one episode.
  'webhook.failing': { openMs: 0, closeMs: 10_000 },
  // It had days to recover, or answered 410.
  'webhook.disabled': { openMs: 0, closeMs: 0 },
  // The person has written already, perhaps STOP.
  'reply.orphaned': { openMs: 0, closeMs: 0 },
}

export function nextStep(type: AlertType, episode: Episode | null, sight: Sight): Step {
  const { openMs, closeMs } = patience[type]
  if (!episode) return sight !== 'bad' ? null : openMs === 0 ? 'open' : 'begin'
  if (!episode.isOpen) {
    if (sight === 'bad') return episode.seenMs >= openMs ? 'open' : null
    return sight === 'between' ? null : 'forget'
  }
  switch (sight) {
    case 'gone':
      return 'drop'
    case 'bad':
      return episode.clearMs === null ? null : 'reopen'
    case 'between':
      return null
    case 'good':
      if (episode.clearMs === null) return closeMs === 0 ? 'close' : 'clear'
      return episode.clearMs >= closeMs ? 'close' : null
    default:
      return sight satisfies never
  }
}

export interface SenderCount {
  delivered: number
  failed: number
}

/** With fewer samples, chance looks like trouble. */
export const samplesMin = 50
// Networks deliver nine of ten messages and more to maintained lists; the gap between the two keeps an alert from flapping.
const badBelow = 0.7
/** A sender is well from this part of delivered messages on. */
export const goodFrom = 0.8

/** Too few messages decide nothing: an alert stays until enough of them arrive, or none came for an hour. */
export function lookAtSender({ delivered, failed }: SenderCount): Exclude<Sight, 'gone'> {
  const count = delivered + failed
  if (count < samplesMin) return 'between'
  const rate = delivered / count
  return rate < badBelow ? 'bad' : rate >= goodFrom ? 'good' : 'between'
}
