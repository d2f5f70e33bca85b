/** How many files of an account come at a time: each holds a connection as long as it comes, which its sender decides. */
import { ApiError } from '../../errors.ts'

/** Uploads at a time in a process; more wait for five seconds and are then asked to come again. */
export const uploadsMax = 4
/** One is left to the others. */
const ofAccountMax = uploadsMax - 1

interface Line {
  free: number
  waiting: (() => void)[]
}

/** The places of each account. */
export class UploadPlaces {
  readonly #waitMs: number
  readonly #lines = new Map<string, Line>()

  constructor(waitMs: number = 5000) {
    this.#waitMs = waitMs
  }

  /** Takes a place, and answers with what gives it back. @throws ApiError `rate_limited` where none gets free in time. */
  async take(accountId: string): Promise<() => void> {
    const line = this.#lines.get(accountId) ?? { free: ofAccountMax, waiting: [] }
    this.#lines.set(accountId, line)
    if (line.free > 0) line.free--
    else await this.#wait(line)
    return () => {
      const next = line.waiting.shift()
      if (next) next()
      else if (++line.free === ofAccountMax) this.#lines.delete(accountId)
    }
  }

  #wait({ waiting }: Line): Promise<void> {
    return new Promise((resolve, reject) => {
      const refuse = (): void => {
        waiting.splice(waiting.indexOf(enter), 1)
        const detail = `An account sends at most ${ofAccountMax} files at a time.`
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
