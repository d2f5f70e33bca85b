/** Polls less often if nothing changes, or the page is not watched. Hidden tabs do not poll. */

/** Equal responses in a row before polling slows down. */
const patience = 6
/** Growth of the wait per equal response. */
const growth = 1.5
/** Longest wait, in intervals. */
const slowest = 4
/** A user counts as away after so long without input, or in another window. Milliseconds. */
const awayMs = 60_000
/** Shortest interval then. Milliseconds. */
const awayEveryMs = 10_000

const deeds = ['pointerdown', 'pointermove', 'keydown', 'wheel', 'touchstart'] as const
let lastDeed = Date.now()

const isAway = (): boolean => !document.hasFocus() || Date.now() - lastDeed > awayMs

/** Calls back when the user returns from another tab, window or a pause; returns a function that stops it. */
export function watchReturns(tell: () => void): () => void {
  const act = () => {
    const wasAway = Date.now() - lastDeed > awayMs
    lastDeed = Date.now()
    if (wasAway) tell()
  }
  document.addEventListener('visibilitychange', tell)
  addEventListener('focus', tell)
  for (const deed of deeds) addEventListener(deed, act, { passive: true, capture: true })
  return () => {
    document.removeEventListener('visibilitychange', tell)
    removeEventListener('focus', tell)
    for (const deed of deeds) removeEventListener(deed, act, { capture: true })
  }
}

/** The last response, and how many before it were equal. */
interface Heard {
  answer: unknown
  count: number
  same: number
}

const heard = new WeakMap<object, Heard>()

/**
 * The wait before the next poll. `asked`: identifies the query; `answer`: the last response, the same object as the one before if equal; `count`:
 * number of responses.
 */
export function paceOf(everyMs: number, asked: object, answer: unknown, count: number): number {
  const before = heard.get(asked)
  const same = before === undefined || before.answer !== answer ? 0 : before.same + (before.count === count ? 0 : 1)
  heard.set(asked, { answer, count, same })
  const waitMs = everyMs * Math.min(slowest, growth ** Math.max(0, same - patience))
  return isAway() ? Math.max(waitMs, awayEveryMs) : waitMs
}
