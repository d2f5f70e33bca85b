/**
 * Gathers bytes for one write. PDUs are appended to a slab; `take` returns the octets since the last take. Later PDUs go behind them, so a
 * socket's bytes stay untouched until `reuse`.
 */
export class PduWriter {
  bytes: Buffer = Buffer.alloc(0)
  end = 0
  #start = 0
  readonly #slabOctets: number

  constructor(slabOctets: number = 64 * 1024) {
    this.#slabOctets = slabOctets
  }

  get length(): number {
    return this.end - this.#start
  }

  /** Makes room for `octets` more, in another slab if they do not fit. */
  reserve(octets: number): void {
    if (this.end + octets <= this.bytes.length) return
    const { length } = this
    // Doubling keeps a long batch linear; a slab of its own per 64 KiB keeps the allocator out of every turn.
    const slab = Buffer.allocUnsafeSlow(Math.max(this.#slabOctets, 2 * length, length + octets))
    this.bytes.copy(slab, 0, this.#start, this.end)
    this.bytes = slab
    this.#start = 0
    this.end = length
  }

  /** Returns the octets since the last take, as a view that is valid until `reuse`. */
  take(): Buffer {
    const taken = this.bytes.subarray(this.#start, this.end)
    this.#start = this.end
    return taken
  }

  /** Restarts the slab when no view is in use any more: recently used memory is the fastest. */
  reuse(): void {
    if (this.length > 0 || this.bytes.length > this.#slabOctets) return
    this.#start = 0
    this.end = 0
  }
}
