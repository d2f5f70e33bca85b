/** When trouble becomes an alert, and when it is over. Pure: what is seen now and the episode so far say what is to be done. */

/** The kinds of trouble, which are also the events that tell of it. */
export type AlertType =
  | 'link.down'
  | 'link.throttled'
  | 'sender.degraded'
  | 'webhook.failing'
  | 'webhook.disabled'
  | 'reply.orphaned'

/** An episode that is not over. */
export interface Episode {
  /** Milliseconds since it was first seen. */
  seenMs: number
  isOpen: boolean
  /** Milliseconds since it seems to be over; null: it does not. */
  clearMs: number | null
}

/** What is seen of a subject now: between bad and good an episode stays as it is; `gone`: it is not watched any more. */
export type Sight = 'bad' | 'between' | 'good' | 'gone'

/** What is seen of one subject. */
export interface Seen {
  type: AlertType
  accountId: string
  subject: string
  sight: Sight
  detail: Record<string, unknown>
}

/** `begin` and `forget` are for trouble that has not lasted: nobody is told of it. `drop` ends an alert without saying that all is well. */
export type Step = 'begin' | 'forget' | 'open' | 'reopen' | 'clear' | 'close' | 'drop' | null

/** How long trouble lasts before it is told, and how long its end, in milliseconds. */
export const patience: Readonly<Record<AlertType, { openMs: number; closeMs: number }>> = {
  // A session that is lost and bound again is nobody's business; one that flaps is one episode.
  'link.down': { openMs: 10_000, closeMs: 10_000 },
  // A single refusal slows a link down for 20 s; only a carrier that keeps refusing makes it longer.
  'link.throttled': { openMs: 30_000, closeMs: 30_000 },
  // Its window is its patience.
  'sender.degraded': { openMs: 0, closeMs: 0 },
  // It has failed for ten seconds before it is seen (see-webhooks.ts); one that comes and goes is one episode.
  'webhook.failing': { openMs: 0, closeMs: 10_000 },
  // It had days to recover, or said that it is gone.
  'webhook.disabled': { openMs: 0, closeMs: 0 },
  // The person has written already, perhaps STOP.
  'reply.orphaned': { openMs: 0, closeMs: 0 },
}

/** What is to be done about a subject. */
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

/** How many of a sender's messages ended how, within the window. */
export interface SenderCount {
  delivered: number
  failed: number
}

/** Below half a hundred, chance looks like trouble. */
export const samplesMin = 50
// Networks deliver nine of ten messages and more to lists that are kept; the gap between the two keeps an alert from flapping.
const badBelow = 0.7
/** From this part of messages delivered on a sender is well. */
export const goodFrom = 0.8

/** How a sender looks. Too few messages tell nothing: an alert stays until enough of them arrive, or none came for an hour. */
export function lookAtSender({ delivered, failed }: SenderCount): Exclude<Sight, 'gone'> {
  const count = delivered + failed
  if (count < samplesMin) return 'between'
  const rate = delivered / count
  return rate < badBelow ? 'bad' : rate >= goodFrom ? 'good' : 'between'
}
