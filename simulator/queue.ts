/** Taken places at the front before they are freed. */
const SPENT_MAX = 4_096

/** First in, first out, at constant cost for any length. */
export class Queue<Item> {
  #items: (Item | undefined)[] = []
  #front = 0

  get size(): number {
    return this.#items.length - this.#front
  }

  get first(): Item | undefined {
    return this.#items[this.#front]
  }

  add(item: Item): void {
    this.#items.push(item)
  }

  take(): Item | undefined {
    if (this.size === 0) return undefined
    const item = this.#items[this.#front]
    this.#items[this.#front++] = undefined
    if (this.#front >= SPENT_MAX && this.#front * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#front)
      this.#front = 0
    }
    return item
  }
}
