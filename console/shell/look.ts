/** Theme and density that the user chose, in this browser. `public/look.js` applies them before the first paint. */
import { useSyncExternalStore } from 'react'

export interface Look {
  /** The empty text follows the system. */
  theme: '' | 'light' | 'dark'
  density: '' | 'compact'
}

const storage = 'heliogram.look'
const page = document.documentElement
const watchers = new Set<() => void>()

const read = (key: keyof Look): string => page.dataset[key] ?? ''

export function setLook(change: Partial<Look>): void {
  Object.assign(page.dataset, change)
  try {
    localStorage.setItem(storage, JSON.stringify({ theme: read('theme'), density: read('density') }))
  } catch {
    // It is chosen for this page only.
  }
  for (const watcher of watchers) watcher()
}

// Another tab chose.
addEventListener('storage', ({ key, newValue }) => {
  if (key !== storage || newValue === null) return
  Object.assign(page.dataset, JSON.parse(newValue))
  for (const watcher of watchers) watcher()
})

const watch = (watcher: () => void) => {
  watchers.add(watcher)
  return () => watchers.delete(watcher)
}

export const useLook = (key: keyof Look): string => useSyncExternalStore(watch, () => read(key))
