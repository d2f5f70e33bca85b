/**
 * Scroll positions of history entries: going back restores a list as it was left. Its filters and page are in the address. Browsers without the
 * Navigation API start at the top.
 */

/** Session storage, so that reloads restore positions. */
const storage = 'heliogram.places'

/** `from` is the previous address. */
interface Arrival {
  way: NavigationType
  from: string
}

const places = new Map<string, number>(readKept())
let arrival: Arrival = { way: 'reload', from: '' }
const now: Navigation | undefined = 'navigation' in globalThis ? navigation : undefined

if (now) {
  // The browser would scroll before the content is there.
  history.scrollRestoration = 'manual'
  now.addEventListener('navigate', ({ navigationType: way }) => {
    keepPlace()
    arrival = { way, from: location.pathname }
  })
  addEventListener('pagehide', () => {
    keepPlace()
    try {
      sessionStorage.setItem(storage, JSON.stringify([...places]))
    } catch {
      // Only scrolling is lost.
    }
  })
}

function keepPlace(): void {
  if (now?.currentEntry) places.set(now.currentEntry.key, scrollY)
}

/** Scrolls to the start, or to the saved position. Returns a function that stops it. */
export function arrive(main: HTMLElement | null): () => void {
  const { way, from } = arrival
  if (way === 'replace') return () => {}
  const y = way === 'push' ? 0 : (places.get(now?.currentEntry?.key ?? '') ?? 0)
  const link = way === 'traverse' ? `a[href="${CSS.escape(from)}"]` : null
  let isFocused = false
  const show = () => {
    scrollTo(0, y)
    // Keyboard focus returns to the row that was opened.
    if (link === null || isFocused) return
    const row = main?.querySelector<HTMLElement>(link)
    row?.focus({ preventScroll: true })
    isFocused = row !== undefined && row !== null
  }
  show()
  if (y === 0 && link === null) return () => {}
  // Content may still be loading. Any user action ends the wait.
  const watch = new ResizeObserver(show)
  const stop = () => {
    watch.disconnect()
    clearTimeout(timer)
    for (const deed of deeds) removeEventListener(deed, stop)
  }
  const timer = setTimeout(stop, 5000)
  for (const deed of deeds) addEventListener(deed, stop)
  if (main) watch.observe(main)
  return stop
}

const deeds = ['wheel', 'keydown', 'pointerdown', 'touchstart'] as const

/** Returns to the last place at an address, with filters and page. False if the user did not come from there. */
export function goBackTo(address: string): boolean {
  const here = now?.currentEntry?.index ?? 0
  const place = now
    ?.entries()
    .findLast(({ index, url }) => index < here && url !== null && new URL(url).pathname === `/console${address}`)
  if (!now || !place) return false
  now.traverseTo(place.key)
  return true
}

function readKept(): [string, number][] {
  try {
    return JSON.parse(sessionStorage.getItem(storage) ?? '[]') as [string, number][]
  } catch {
    return []
  }
}
