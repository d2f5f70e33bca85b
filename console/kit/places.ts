/**
 * Places: entries of the browser's history with what was in sight there. Who goes back finds a list as they left it: its filters and
 * pages stand in its address, and how far it was scrolled stands here. Browsers without the Navigation API begin at the top.
 */

/** Where this tab keeps how far each place was scrolled, so that a reload finds it. */
const storage = 'heliogram.places'

/** What leads to the screen that is shown: `from` is the address that was left. */
interface Arrival {
  way: NavigationType
  from: string
}

const places = new Map<string, number>(readKept())
let arrival: Arrival = { way: 'reload', from: '' }
const now: Navigation | undefined = 'navigation' in globalThis ? navigation : undefined

if (now) {
  // The browser would scroll before there is anything to scroll.
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
      // It only spares some scrolling.
    }
  })
}

function keepPlace(): void {
  if (now?.currentEntry) places.set(now.currentEntry.key, scrollY)
}

/** Shows the place that an address stands for: its beginning, or what was in sight when it was left. Answers how to leave off. */
export function arrive(main: HTMLElement | null): () => void {
  const { way, from } = arrival
  if (way === 'replace') return () => {}
  const y = way === 'push' ? 0 : (places.get(now?.currentEntry?.key ?? '') ?? 0)
  const link = way === 'traverse' ? `a[href="${CSS.escape(from)}"]` : null
  let isFocused = false
  const show = () => {
    scrollTo(0, y)
    // The keyboard goes on from the row that one comes from.
    if (link === null || isFocused) return
    const row = main?.querySelector<HTMLElement>(link)
    row?.focus({ preventScroll: true })
    isFocused = row !== undefined && row !== null
  }
  show()
  if (y === 0 && link === null) return () => {}
  // What the place shows may still be on its way. Whoever does something meanwhile goes on from there.
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

/** Goes back to where somebody was last at an address, with its filters and its page. False: they come from elsewhere. */
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
