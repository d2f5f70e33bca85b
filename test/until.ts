/** Generous for busy machines: only an endless wait reaches it. Milliseconds. */
export const patienceMs = 90_000

/** Throws with the name of the condition after `withinMs`. An error of the condition counts as "not yet". */
export async function until(
  what: string,
  holds: () => boolean | Promise<boolean>,
  withinMs: number = patienceMs,
): Promise<void> {
  const startedAt = performance.now()
  const end = startedAt + withinMs
  let last: unknown = null
  for (;;) {
    try {
      if (await holds()) return
      last = null
    } catch (error) {
      last = error
    }
    const now = performance.now()
    if (now > end) throw new Error(`not within ${withinMs} ms: ${what}`, { cause: last })
    // A tenth of the time waited so far: a long wait is not one of thousands of requests.
    await new Promise((resolve) => setTimeout(resolve, Math.min(100, Math.max(10, (now - startedAt) / 10))))
  }
}

export async function waitFor<T>(
  what: string,
  find: () => T | null | undefined | Promise<T | null | undefined>,
  withinMs: number = patienceMs,
): Promise<T> {
  const found: { value?: T } = {}
  const look = async (): Promise<boolean> => {
    const value = await find()
    if (value === null || value === undefined) return false
    found.value = value
    return true
  }
  await until(what, look, withinMs)
  return found.value as T
}

/** The result of a reading, and how often other work had its turn meanwhile. */
export async function countTurns<T>(reading: Promise<T>): Promise<{ read: T; turns: number }> {
  let turns = 0
  let isRead = false
  const count = (): void => {
    turns++
    if (!isRead) setImmediate(count)
  }
  setImmediate(count)
  const read = await reading.finally(() => (isRead = true))
  return { read, turns }
}
