/** The number of concurrent posts to one endpoint: more while it answers well, fewer as soon as it does not. */

const startSize = 4
const growBelowMs = 2000
// The last duration has a weight of one sixteenth in the average, which starts at a second.
const remembered = 16

/** An adaptive window: additive growth, halved by failures. */
export interface PostWindow {
  readonly size: number
  /** No failure since the last success. */
  readonly isHealthy: boolean
  /** Expected ends of posts in a second, at this size. */
  readonly perSecond: number
  note(isOk: boolean, durationMs: number, isQueueEmpty: boolean): void
}

/** A window from 1 to `sizeMax`, starting at 4. */
export function createWindow(sizeMax: number): PostWindow {
  let size = Math.min(startSize, sizeMax)
  // Posts in flight when the window was halved add no information by failing too.
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
