/** When somebody last did something in the console, in whichever tab: a login that nobody uses ends, whatever its pages ask by themselves. */

const place = 'heliogram.used'
/** How exactly it is kept. Milliseconds. */
const stepMs = 30_000

/** What this tab knows itself, also where the browser keeps nothing for pages. */
let own = 0

const deeds = ['pointerdown', 'keydown', 'wheel', 'touchstart'] as const

/** Notes that somebody does something. */
export function noteUse(): void {
  const now = Date.now()
  if (now - own < stepMs) return
  own = now
  try {
    localStorage.setItem(place, String(now))
  } catch {
    // This tab knows it.
  }
}

/** For how long nobody has done anything. Milliseconds; none where that is not known. */
export function unusedMs(): number {
  const last = Math.max(own, readKept())
  return last === 0 ? 0 : Date.now() - last
}

/** Calls back at everything that somebody does here. */
export function watchUse(tell: () => void): void {
  for (const deed of deeds) addEventListener(deed, tell, { capture: true, passive: true })
}

function readKept(): number {
  try {
    return Number(localStorage.getItem(place)) || 0
  } catch {
    return 0
  }
}
