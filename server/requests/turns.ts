/** Work that is too long for one turn of the event loop, for which everybody else waits. */

// Others wait for so long at most, and as often as they come.
const turnMs = 10

/** What a long piece of work asks between its steps: resolves at once, or behind what others have to do where it has had its turn. */
export function openTurns(): () => Promise<void> | undefined {
  let turnAt = performance.now()
  return () => {
    if (performance.now() - turnAt < turnMs) return undefined
    return new Promise((resolve) => {
      setImmediate(() => {
        turnAt = performance.now()
        resolve()
      })
    })
  }
}
