/** How often a shared read may run: it rests for `restMs` at least, and for `restFactor` times as long as it took. */
export interface Rest {
  restMs: number
  restFactor: number
}

/** Shares the result of an expensive read between callers; a failure is not kept. A caller's arguments count if its call reads. */
export function shareRead<T, Given extends unknown[]>(
  read: (...given: Given) => Promise<T>,
  { restMs, restFactor }: Rest,
): (...given: Given) => Promise<T> {
  let result: Promise<T> | null = null
  let freshUntil = Infinity
  return (...given) => {
    if (result && performance.now() < freshUntil) return result
    const startedAt = performance.now()
    freshUntil = Infinity
    result = read(...given)
    result.then(
      () => {
        const endedAt = performance.now()
        freshUntil = endedAt + Math.max(restMs, (endedAt - startedAt) * restFactor)
      },
      () => {
        result = null
      },
    )
    return result
  }
}
