/** How often what is shown is asked again: less where nothing changes, and where nobody looks. Nothing asks in a tab that is hidden. */

/** So many answers in a row may say the same before it is asked less often. */
const patience = 6
/** Each one more that says the same makes the next wait longer by this. */
const growth = 1.5
/** How much longer a wait may become, at most. */
const slowest = 4
/** Who has done nothing for so long, or works in another window, looks at most now and then. Milliseconds. */
const awayMs = 60_000
/** The shortest wait for those. Milliseconds. */
const awayEveryMs = 10_000

const deeds = ['pointerdown', 'pointermove', 'keydown', 'wheel', 'touchstart'] as const
let lastDeed = Date.now()

const isAway = (): boolean => !document.hasFocus() || Date.now() - lastDeed > awayMs

/** Calls back when somebody looks at the page again, who was in another tab or window, or has done nothing for a while; answers how to stop that. */
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

/** What was answered last to something, and how many answers before had said the same. */
interface Heard {
  answer: unknown
  count: number
  same: number
}

const heard = new WeakMap<object, Heard>()

/**
 * How long to wait before something is asked again, where it is asked every so often. `asked`: what stands for it; `answer`: the last answer, which
 * is the same object as the one before it where it says the same; `count`: how many there have been.
 */
export function paceOf(everyMs: number, asked: object, answer: unknown, count: number): number {
  const before = heard.get(asked)
  const same = before === undefined || before.answer !== answer ? 0 : before.same + (before.count === count ? 0 : 1)
  heard.set(asked, { answer, count, same })
  const waitMs = everyMs * Math.min(slowest, growth ** Math.max(0, same - patience))
  return isAway() ? Math.max(waitMs, awayEveryMs) : waitMs
}
