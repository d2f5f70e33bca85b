/** How finely delays are kept. One timer serves all that falls into the same slot, so that a load of receipts is no load of timers. */
const SLOT_MS = 5

/** Work put off to a later time, dropped together when the simulator closes. Lives until close(). */
export class Agenda {
  readonly #slots = new Map<number, { timer: NodeJS.Timeout; works: (() => void)[] }>()
  #isClosed = false

  /** Does the work after at least so many milliseconds; at once for 0. */
  after(delayMs: number, work: () => void): void {
    if (this.#isClosed) return
    if (delayMs <= 0) return work()
    const now = performance.now()
    const slot = Math.ceil((now + delayMs) / SLOT_MS)
    const planned = this.#slots.get(slot)
    if (planned !== undefined) {
      planned.works.push(work)
      return
    }
    const works = [work]
    const timer = setTimeout(() => this.#run(slot, works), slot * SLOT_MS - now)
    this.#slots.set(slot, { timer, works })
  }

  /** Drops all that is put off; later calls of after() do nothing. */
  close(): void {
    this.#isClosed = true
    for (const { timer } of this.#slots.values()) clearTimeout(timer)
    this.#slots.clear()
  }

  #run(slot: number, works: readonly (() => void)[]): void {
    this.#slots.delete(slot)
    for (const work of works) work()
  }
}
