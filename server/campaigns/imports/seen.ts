/** A set of phone numbers in 8 bytes a slot: a million of them take 16 MiB, an eighth of what a `Set` of strings takes. */
export class NumberSet {
  // 15 digits are below 2^53, so a number is exact as a double; 0 is no phone number and stands for an empty slot.
  #slots = new Float64Array(1024)
  #size = 0

  /** Adds a number of up to 15 digits; false when it was there. */
  add(digits: string): boolean {
    if (this.#size * 2 >= this.#slots.length) this.#grow()
    const isNew = insert(this.#slots, Number(digits))
    if (isNew) this.#size++
    return isNew
  }

  #grow(): void {
    const larger = new Float64Array(this.#slots.length * 2)
    for (const value of this.#slots) if (value !== 0) insert(larger, value)
    this.#slots = larger
  }
}

/** Open addressing with linear probing; the table is at most half full and its length a power of two. */
function insert(slots: Float64Array, value: number): boolean {
  const mask = slots.length - 1
  // Neighbouring numbers are common: Fibonacci hashing of both halves spreads them.
  const high = Math.floor(value / 0x1_0000_0000)
  let at = (Math.imul(high ^ (value >>> 0), 0x9e3779b1) >>> 8) & mask
  for (;;) {
    const found = slots[at]
    if (found === value) return false
    if (found === 0) {
      slots[at] = value
      return true
    }
    at = (at + 1) & mask
  }
}
