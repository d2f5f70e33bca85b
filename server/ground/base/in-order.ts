/** Work that is done one piece after the other for each key, in this process; that of different keys at once. */
export class InOrder {
  /** The last piece of each key that has any. */
  readonly #last = new Map<string, Promise<unknown>>()

  /** Does a piece when those before it are done. One that fails takes those along that wait behind it: they fail with its error, undone. */
  run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const done = this.#last.get(key)?.then(work) ?? work()
    this.#last.set(key, done)
    const forget = (): unknown => this.#last.get(key) === done && this.#last.delete(key)
    done.then(forget, forget)
    return done
  }
}
