/** What somebody typed and did not send yet, in this tab: other screens and reloads do not lose it. */
import { use, useState } from 'react'
import { Viewer } from './viewer.ts'

/** The draft, a function that changes it, and one that forgets it once it is sent. */
export function useDraft<T extends object>(name: string, empty: T): [T, (part: Partial<T>) => void, () => void] {
  const { user } = use(Viewer)
  const key = `heliogram.draft.${user}.${name}`
  const [draft, setDraft] = useState<T>(() => ({ ...empty, ...read<T>(key) }))
  const write = (part: Partial<T>) =>
    setDraft((now) => {
      const next = { ...now, ...part }
      try {
        sessionStorage.setItem(key, JSON.stringify(next))
      } catch {
        // Only leaving the screen loses it.
      }
      return next
    })
  return [draft, write, () => sessionStorage.removeItem(key)]
}

function read<T>(key: string): Partial<T> {
  try {
    return JSON.parse(sessionStorage.getItem(key) ?? '{}') as Partial<T>
  } catch {
    return {}
  }
}
