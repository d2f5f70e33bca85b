/**
 * Bytes gathered for one write. PDUs are appended to a slab; `take` hands out what was gathered since the last time, and
 * the next ones go behind it, so bytes that were handed to a socket are not touched until `reuse` says that they may be.
 */
export class PduWriter {
  bytes: Buffer = Buffer.alloc(0)
  /** End of what is written. */
  end = 0
  #start = 0
  readonly #slabOctets: number

  constructor(slabOctets: number = 64 * 1024) {
    this.#slabOctets = slabOctets
  }

  /** Octets gathered since the last take. */
  get length(): number {
    return this.end - this.#start
  }

  /** Makes room for `octets` more, moving to another slab when they do not fit. */
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

  /** Hands out what was gathered since the last take, as a view that stays as it is until `reuse`. */
  take(): Buffer {
    const taken = this.bytes.subarray(this.#start, this.end)
    this.#start = this.end
    return taken
  }

  /** Begins the slab again: nothing that was handed out is needed any more, and memory just used is the fastest. */
  reuse(): void {
    if (this.length > 0 || this.bytes.length > this.#slabOctets) return
    this.#start = 0
    this.end = 0
  }
}
