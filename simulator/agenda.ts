/** Resolution of delays. One timer serves a whole slot, so that many receipts do not need many timers. */
const SLOT_MS = 5

/** Delayed work, all dropped when the simulator closes. Lives until close(). */
export class Agenda {
  readonly #slots = new Map<number, { timer: NodeJS.Timeout; works: (() => void)[] }>()
  #isClosed = false

  /** Runs immediately for 0. */
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

  /** Drops all delayed work; later calls of after() do nothing. */
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
