/** How long changes are gathered before they are told: a page cannot show more, and a load must not drown it. */
const GATHER_MS = 100

/** Numbers told of one by one; above this only that much has changed. */
const NUMBERS_MAX = 100

/** Tells who listens: these numbers have something new; null = many. */
export type ChangeListener = (numbers: readonly string[] | null) => void

/** News of phones for the pages that are open. Costs nothing while none is. */
export interface Changes {
  note(number: string): void
  /** Listens; answers how to stop. */
  listen(listener: ChangeListener): () => void
  close(): void
}

/** Opens the news; close() stops it. */
export function openChanges(): Changes {
  const listeners = new Set<ChangeListener>()
  const numbers = new Set<string>()
  let timer: NodeJS.Timeout | undefined

  const tell = (): void => {
    timer = undefined
    const changed = numbers.size > NUMBERS_MAX ? null : [...numbers]
    numbers.clear()
    for (const listener of listeners) listener(changed)
  }

  return {
    note: (number) => {
      if (listeners.size === 0) return
      if (numbers.size <= NUMBERS_MAX) numbers.add(number)
      timer ??= setTimeout(tell, GATHER_MS)
    },
    listen: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    close: () => {
      clearTimeout(timer)
      listeners.clear()
    },
  }
}
