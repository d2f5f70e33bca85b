/** A few places for the work of many accounts: they have them by turns, however much one of them has waiting. */

// Who has more waiting than this is refused: what comes later would only wait longer.
const waitingMaxDefault = 100

/** Refuses work of an account that has too much of it waiting already. */
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

  /** `max`: places; `ofOneMax`: those of them that one account may have; `waitingMax`: how much of one may wait. */
  constructor(max: number, ofOneMax: number = max, waitingMax: number = waitingMaxDefault) {
    this.#max = max
    this.#ofOneMax = ofOneMax
    this.#waitingMax = waitingMax
  }

  /** Works when it is the turn of the account. @throws CrowdedError where too much of it waits. */
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

  /** Gives the place that is free to the first account that may have it; its next turn comes behind those of the others. */
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
