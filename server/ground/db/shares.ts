// Above this, work is refused: it would only wait longer.
const waitingMaxDefault = 100

/** An account has too much waiting work. */
export class CrowdedError extends Error {}

interface Line {
  running: number
  waiting: (() => void)[]
}

export class Shares {
  readonly #max: number
  readonly #ofOneMax: number
  #running = 0
  /** Accounts with work, in the order of their turns. */
  readonly #lines = new Map<string, Line>()

  readonly #waitingMax: number

  /** `max`: places; `ofOneMax`: places per account; `waitingMax`: waiting work per account. */
  constructor(max: number, ofOneMax: number = max, waitingMax: number = waitingMaxDefault) {
    this.#max = max
    this.#ofOneMax = ofOneMax
    this.#waitingMax = waitingMax
  }

  /** Accounts share the places by turns, however much work one of them has. @throws CrowdedError if too much of the account's work waits. */
  async run<T>(accountId: string, work: () => Promise<T>): Promise<T> {
    const line = this.#lines.get(accountId) ?? { running: 0, waiting: [] }
    this.#lines.set(accountId, line)
    if (this.#running < this.#max && line.running < this.#ofOneMax) this.#take(line)
    else if (line.waiting.length >= this.#waitingMax) throw new CrowdedError('too much of the account waits already')
    else await new Promise<void>((resolve) => line.waiting.push(resolve))
    try {
      return await work()
    } finally {
      this.#running--
      line.running--
      this.#goOn()
      if (line.running === 0 && line.waiting.length === 0) this.#lines.delete(accountId)
    }
  }

  #take(line: Line): void {
    this.#running++
    line.running++
  }

  /** Gives a free place to the first account that may have it, which then moves to the end. */
  #goOn(): void {
    for (const [accountId, line] of this.#lines) {
      if (line.running >= this.#ofOneMax) continue
      const next = line.waiting.shift()
      if (!next) continue
      this.#lines.delete(accountId)
      this.#lines.set(accountId, line)
      this.#take(line)
      next()
      return
    }
  }
}
