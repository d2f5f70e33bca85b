/** How many posts to one endpoint may be under way: more while it answers well, fewer as soon as it does not. */

const startSize = 4
const growBelowMs = 2000
// What the last post took counts for a sixteenth of what a post takes; before the first, it is a second.
const remembered = 16

/** An adaptive window: additive growth, halved by failures. */
export interface PostWindow {
  /** Posts that may be under way now. */
  readonly size: number
  /** No failure since the last success. */
  readonly isHealthy: boolean
  /** Posts that may be expected to end in a second, with as many under way. */
  readonly perSecond: number
  /** Takes the end of a post into account. */
  note(isOk: boolean, durationMs: number, isQueueEmpty: boolean): void
}

/** A window from 1 to `sizeMax`, starting at 4. */
export function createWindow(sizeMax: number): PostWindow {
  let size = Math.min(startSize, sizeMax)
  // Posts that were under way when the window was halved tell nothing new by failing too.
  let staleFailures = 0
  let isHealthy = true
  let tookMs = 1000
  return {
    get size() {
      return size
    },
    get isHealthy() {
      return isHealthy
    },
    get perSecond() {
      return (size * 1000) / tookMs
    },
    note(isOk, durationMs, isQueueEmpty) {
      isHealthy = isOk
      tookMs += (Math.max(1, durationMs) - tookMs) / remembered
      if (isOk) {
        staleFailures = 0
        if (!isQueueEmpty && durationMs < growBelowMs) size = Math.min(size + 1, sizeMax)
      } else if (staleFailures > 0) staleFailures--
      else {
        staleFailures = size - 1
        size = Math.max(1, size >> 1)
      }
    },
  }
}
