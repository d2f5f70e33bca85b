/** Changes are gathered for so long: a page cannot show more, and a load must not flood it. */
const GATHER_MS = 100

/** Above this, pages only learn that much has changed. */
const NUMBERS_MAX = 100

/** The numbers with changes; null = many. */
export type ChangeListener = (numbers: readonly string[] | null) => void

/** Changes of phones for open pages. Free while none is open. */
export interface Changes {
  note(number: string): void
  /** Returns a function that stops listening. */
  listen(listener: ChangeListener): () => void
  close(): void
}

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
