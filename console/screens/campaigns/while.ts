/** Looks again and again as long as something goes on, and no more when it is over. */
import { useState } from 'react'

export interface While {
  options: { every?: number }
  /** What was seen last, by its id, and whether it goes on. */
  see: (id: string | undefined, goesOn: boolean) => void
}

/** `id`: of what is looked at. Milliseconds. */
export function useWhile(id: string, everyMs: number): While {
  const [over, setOver] = useState('')
  const see = (seen: string | undefined, goesOn: boolean) => {
    if (seen !== id) return
    const next = goesOn ? '' : id
    if (next !== over) setOver(next)
  }
  return { options: over === id ? {} : { every: everyMs }, see }
}
