/** Limits an account's concurrent requests of a kind in a process: expensive ones, or those that hold something while they last. */
import { ApiError } from '../base/errors.ts'

interface Line {
  free: number
  waiting: (() => void)[]
}

export class Places {
  readonly #ofAccountMax: number
  readonly #what: string
  readonly #waitMs: number
  readonly #lines = new Map<string, Line>()

  /** `what`: names the limited kind in the refusal. */
  constructor(ofAccountMax: number, what: string, waitMs: number = 5000) {
    this.#ofAccountMax = ofAccountMax
    this.#what = what
    this.#waitMs = waitMs
  }

  /** Takes a place; returns the function that releases it. @throws ApiError `rate_limited` if none becomes free in time. */
  async take(accountId: string): Promise<() => void> {
    const line = this.#lines.get(accountId) ?? { free: this.#ofAccountMax, waiting: [] }
    this.#lines.set(accountId, line)
    if (line.free > 0) line.free--
    else await this.#wait(line)
    let isTaken = true
    return () => {
      if (!isTaken) return
      isTaken = false
      const next = line.waiting.shift()
      if (next) next()
      else if (++line.free === this.#ofAccountMax) this.#lines.delete(accountId)
    }
  }

  #wait({ waiting }: Line): Promise<void> {
    return new Promise((resolve, reject) => {
      const refuse = (): void => {
        waiting.splice(waiting.indexOf(enter), 1)
        const detail = `An account can have at most ${this.#ofAccountMax} ${this.#what} at a time.`
        reject(new ApiError('rate_limited', { detail, retryAfterSeconds: this.#waitMs / 1000 }))
      }
      const timer = setTimeout(refuse, this.#waitMs)
      const enter = (): void => {
        clearTimeout(timer)
        resolve()
      }
      waiting.push(enter)
    })
  }
}
