/** Success messages at the edge of the page for some seconds, announced by screen readers. */
import { useSyncExternalStore } from 'react'

interface Said {
  id: number
  text: string
}

/** Milliseconds. */
const staysMs = 5000
let said: Said[] = []
let count = 0
const watchers = new Set<() => void>()

function change(next: Said[]): void {
  said = next
  for (const watcher of watchers) watcher()
}

export function toast(text: string): void {
  const id = ++count
  change([...said, { id, text }])
  setTimeout(() => change(said.filter((one) => one.id !== id)), staysMs)
}

const watch = (watcher: () => void) => {
  watchers.add(watcher)
  return () => watchers.delete(watcher)
}

/** Once per page. */
export function Toasts() {
  const shown = useSyncExternalStore(watch, () => said)
  return (
    <div className="toasts" role="status" aria-live="polite">
      {shown.map(({ id, text }) => (
        <p key={id}>{text}</p>
      ))}
    </div>
  )
}
