/** Group commit: items that arrive during a flush are written by the next one. */

interface BatchOptions<In> {
  /** Items per flush, at most, or per flush that begins with this item. */
  sizeMax: number | ((first: In) => number)
  /** Concurrent flushes: 1 to keep the order (status writers), 2 so that a slow fsync does not stall the next. */
  flushesMax: number
  /** An item's owner: if more items wait than a flush takes, owners take turns. By default items are in order. */
  ownerOf?: (item: In) => string
  /** Rests after each flush, for writes without waiting callers: larger flushes cost less per item. */
  rests?: boolean
  /** Delays a flush of these items until its turn. */
  inTurn?: (items: In[], flush: () => Promise<void>) => Promise<void>
  /** Waits while each turn of the loop adds items: under load larger flushes cost less per item, and a single item does not wait. */
  gathers?: boolean
  /** How long the first item waits for others, for writes without waiting callers: a statement of one costs nearly as much as one of fifty. */
  lingerMs?: number
  /** Whether a failure concerns every item (the database is down); for any other, halving the batch finds the bad item. */
  isForAll: (error: unknown) => boolean
  /** Called after every flush with its items and milliseconds. */
  onFlush?: ((items: number, ms: number) => void) | undefined
}

interface Waiting<In, Out> {
  item: In
  resolve: (out: Out) => void
  reject: (error: unknown) => void
}

// The rest is as long as the flush was, up to this: a statement costs much the same for one row as for fifty, so under load half the time
// is spent on gathering, and an idle batcher, whose flushes are short and far apart, never waits.
const restMsMax = 20

// If clients respond faster than they are read, each turn adds items; the first has waited enough by then.
const gatherMsMax = 3

/**
 * Collects items and writes them together. `flush` returns a result per item, in order, and must have no effect if it throws: then all
 * items fail, or each half is tried again, so that a bad item fails alone.
 */
export class Batcher<In, Out> {
  #waiting: Waiting<In, Out>[] = []
  #flushing = 0
  /** Start times of running flushes. */
  readonly #running = new Set<{ since: number }>()
  #isStarting = false
  #restUntil = 0
  #resting: NodeJS.Timeout | null = null
  readonly #flush: (items: In[]) => Promise<Out[]>
  readonly #options: BatchOptions<In>

  constructor(flush: (items: In[]) => Promise<Out[]>, options: BatchOptions<In>) {
    this.#flush = flush
    this.#options = options
  }

  get #sizeMax(): number {
    const { sizeMax } = this.#options
    if (typeof sizeMax === 'number') return sizeMax
    const [first] = this.#waiting
    return first ? sizeMax(first.item) : Infinity
  }

  /** Items not yet handed to a flush. */
  get length(): number {
    return this.#waiting.length
  }

  countOf(owner: string): number {
    const { ownerOf } = this.#options
    return ownerOf ? this.#waiting.filter(({ item }) => ownerOf(item) === owner).length : 0
  }

  /** Milliseconds since the oldest running flush began; 0: none. */
  get flushingMs(): number {
    const [oldest] = this.#running
    return oldest ? performance.now() - oldest.since : 0
  }

  /** Resolves with the item's result after the commit. */
  push(item: In): Promise<Out> {
    return new Promise((resolve, reject) => {
      const { lingerMs = 0 } = this.#options
      if (lingerMs > 0 && this.#waiting.length === 0)
        this.#restUntil = Math.max(this.#restUntil, performance.now() + lingerMs)
      this.#waiting.push({ item, resolve, reject })
      this.#schedule()
    })
  }

  /** Resolves when all items so far have been flushed or failed. */
  async drain(): Promise<void> {
    while (this.#waiting.length > 0 || this.#flushing > 0) await new Promise((resolve) => setTimeout(resolve, 1))
  }

  /** Starts a flush at the end of this turn, to include all that the sockets deliver in it, or after the rest. */
  #schedule(): void {
    if (this.#isStarting || this.#flushing >= this.#options.flushesMax || this.#waiting.length === 0) return
    const restMs = this.#waiting.length < this.#sizeMax ? this.#restUntil - performance.now() : 0
    if (restMs > 0.5) {
      this.#resting ??= setTimeout(() => this.#start(), restMs)
      return
    }
    this.#isStarting = true
    if (this.#options.gathers) this.#gather(this.#waiting.length, performance.now() + gatherMsMax)
    else setImmediate(() => this.#start())
  }

  /** Starts a flush at the first turn without new items. */
  #gather(before: number, until: number): void {
    setImmediate(() => {
      const { length } = this.#waiting
      if (length > before && length < this.#sizeMax && performance.now() < until) this.#gather(length, until)
      else this.#start()
    })
  }

  #start(): void {
    this.#isStarting = false
    if (this.#resting) clearTimeout(this.#resting)
    this.#resting = null
    if (this.#flushing >= this.#options.flushesMax) return
    const batch = this.#take()
    if (batch.length > 0) void this.#run(batch)
    this.#schedule()
  }

  /** The next flush's items, in equal shares by owner. */
  #take(): Waiting<In, Out>[] {
    const { ownerOf } = this.#options
    const sizeMax = this.#sizeMax
    if (!ownerOf || this.#waiting.length <= sizeMax) return this.#waiting.splice(0, sizeMax)
    const lines = [...Map.groupBy(this.#waiting, ({ item }) => ownerOf(item)).values()]
    const taken = new Set<Waiting<In, Out>>()
    for (let place = 0; taken.size < sizeMax; place++)
      for (const line of lines) {
        const one = line[place]
        if (one && taken.size < sizeMax) taken.add(one)
      }
    this.#waiting = this.#waiting.filter((one) => !taken.has(one))
    return [...taken]
  }

  async #run(batch: Waiting<In, Out>[]): Promise<void> {
    this.#flushing++
    const { inTurn } = this.#options
    if (inTurn) {
      const items = batch.map(({ item }) => item)
      await inTurn(items, () => this.#time(batch))
    } else await this.#time(batch)
    this.#flushing--
    this.#schedule()
  }

  async #time(batch: Waiting<In, Out>[]): Promise<void> {
    const startedAt = performance.now()
    const running = { since: startedAt }
    this.#running.add(running)
    await this.#write(batch)
    this.#running.delete(running)
    const endedAt = performance.now()
    this.#options.onFlush?.(batch.length, endedAt - startedAt)
    if (this.#options.rests) this.#restUntil = endedAt + Math.min(endedAt - startedAt, restMsMax)
  }

  async #write(batch: Waiting<In, Out>[]): Promise<void> {
    try {
      const results = await this.#flush(batch.map((waiting) => waiting.item))
      if (results.length !== batch.length) throw new Error(`flush answered ${results.length} of ${batch.length} items`)
      batch.forEach((waiting, i) => waiting.resolve(results[i] as Out))
    } catch (error) {
      if (batch.length === 1 || this.#options.isForAll(error)) for (const waiting of batch) waiting.reject(error)
      else {
        await this.#write(batch.slice(0, batch.length >> 1))
        await this.#write(batch.slice(batch.length >> 1))
      }
    }
  }
}
