/** Group commit: what arrives while a flush is under way is written by the next one. */

interface BatchOptions<In> {
  /** Largest number of items in one flush, or in one that begins with this item. */
  sizeMax: number | ((first: In) => number)
  /** Flushes at once: 1 where order matters (status writers), 2 where a slow fsync should not stall the next. */
  flushesMax: number
  /** Whose an item is: where more waits than one flush takes, each owner's are taken by turns. Without it they go in their order. */
  ownerOf?: (item: In) => string
  /** Rest after each flush, where nobody waits for the answer: larger flushes cost less an item. */
  rests?: boolean
  /** Waits with a flush of these items until it may be: for what is to make room. */
  inTurn?: (items: In[], flush: () => Promise<void>) => Promise<void>
  /** Waits while each turn of the loop brings more: under load larger flushes cost less an item, and nobody waits who comes alone. */
  gathers?: boolean
  /** How long the first item waits for others, where nobody waits for any of them: a statement of one costs nearly as much as one of fifty. */
  lingerMs?: number
  /** Whether a failure concerns every item (the database is away); of any other, halving the batch finds the item to blame. */
  isForAll: (error: unknown) => boolean
  /** Told of every flush: its items, and how long it took in milliseconds. */
  onFlush?: ((items: number, ms: number) => void) | undefined
}

interface Waiting<In, Out> {
  item: In
  resolve: (out: Out) => void
  reject: (error: unknown) => void
}

// The rest is as long as the flush was, up to this: a statement costs much the same for one row as for fifty, so under load half the
// time is spent on gathering, and an idle batcher, whose flushes are short and far apart, never waits.
const restMsMax = 20

// A turn brings more as long as clients answer faster than they are read; whoever was first has waited enough then.
const gatherMsMax = 3

/**
 * Collects items and writes them together. `flush` answers one result an item, in their order, and must have no effect when it throws:
 * then either all its items fail, or each half is tried again, so that one bad item fails alone.
 */
export class Batcher<In, Out> {
  #waiting: Waiting<In, Out>[] = []
  #flushing = 0
  /** When each flush that is under way began. */
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

  /** How many of them are of an owner. */
  countOf(owner: string): number {
    const { ownerOf } = this.#options
    return ownerOf ? this.#waiting.filter(({ item }) => ownerOf(item) === owner).length : 0
  }

  /** How long the oldest flush has been under way, in milliseconds; 0: none is. */
  get flushingMs(): number {
    const [oldest] = this.#running
    return oldest ? performance.now() - oldest.since : 0
  }

  /** Adds an item; resolves with its result when its flush has committed. */
  push(item: In): Promise<Out> {
    return new Promise((resolve, reject) => {
      const { lingerMs = 0 } = this.#options
      if (lingerMs > 0 && this.#waiting.length === 0)
        this.#restUntil = Math.max(this.#restUntil, performance.now() + lingerMs)
      this.#waiting.push({ item, resolve, reject })
      this.#schedule()
    })
  }

  /** Resolves when all that was pushed has been flushed, whatever came of it. */
  async drain(): Promise<void> {
    while (this.#waiting.length > 0 || this.#flushing > 0) await new Promise((resolve) => setTimeout(resolve, 1))
  }

  /** Starts a flush at the end of this turn, so that it takes all that the sockets delivered in it, or when the rest is over. */
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

  /** Starts a flush at the first turn that brings nothing more. */
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

  /** What the next flush writes: of each owner as much as of the others, as far as there is. */
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
