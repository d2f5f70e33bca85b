/** The person who looks: whose choices are kept, and on which clock times are shown. */
import { createContext, use, useState } from 'react'

interface Viewer {
  user: string
  /** The account's; undefined: that of the browser. */
  zone?: string | undefined
}

export const Viewer = createContext<Viewer>({ user: '' })

/** A choice kept in this browser for this person. Without storage it lasts until the screen is left. */
export function useKept<T>(name: string | undefined, otherwise: T): [T, (value: T) => void] {
  const { user } = use(Viewer)
  const key = `heliogram.${user}.${name}`
  const [[shownKey, value], setShown] = useState(() => [key, name === undefined ? otherwise : read(key, otherwise)])
  if (shownKey !== key) setShown([key, read(key, otherwise)])
  const keep = (next: T) => {
    setShown([key, next])
    if (name === undefined) return
    try {
      localStorage.setItem(key, JSON.stringify(next))
    } catch {
      // Only the choice is lost.
    }
  }
  return [value, keep]
}

function read<T>(key: string, otherwise: T): T {
  try {
    return (JSON.parse(localStorage.getItem(key) ?? 'null') as T | null) ?? otherwise
  } catch {
    return otherwise
  }
}
