/** The time of the last input in any tab: an unused login ends, in spite of polling. */

const place = 'heliogram.used'
/** Resolution. Milliseconds. */
const stepMs = 30_000

/** This tab's own value, if the browser stores nothing. */
let own = 0

const deeds = ['pointerdown', 'keydown', 'wheel', 'touchstart'] as const

export function noteUse(): void {
  const now = Date.now()
  if (now - own < stepMs) return
  own = now
  try {
    localStorage.setItem(place, String(now))
  } catch {
    // This tab has its own value.
  }
}

/** Milliseconds without input; 0 if unknown. */
export function unusedMs(): number {
  const last = Math.max(own, readKept())
  return last === 0 ? 0 : Date.now() - last
}

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
