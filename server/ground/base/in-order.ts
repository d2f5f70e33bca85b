/** Runs work one by one for each key, in this process; different keys run concurrently. */
export class InOrder {
  /** The last work of each busy key. */
  readonly #last = new Map<string, Promise<unknown>>()

  /** Runs after earlier work of the key. If that fails, later work is not done and fails with its error. */
  run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const done = this.#last.get(key)?.then(work) ?? work()
    this.#last.set(key, done)
    const forget = (): unknown => this.#last.get(key) === done && this.#last.delete(key)
    done.then(forget, forget)
    return done
  }
}
