import { readUint32 } from './octets.ts'
import { HEADER_OCTETS, PDU_OCTETS_MAX } from './pdu.ts'

const NONE = Buffer.alloc(0)

/** Receives one whole PDU, bytes[start, end). If it returns false, the stream stops there and drops the rest. */
export type PduVisitor = (bytes: Buffer, start: number, end: number) => boolean

/**
 * Splits a byte stream into PDUs. Holds at most one partial PDU, so never more than PDU_OCTETS_MAX octets. After a command_length below 16 or
 * above that maximum the stream is out of step for good, and `push` returns false.
 */
export class PduStream {
  readonly #visit: PduVisitor
  /** The first #partialEnd octets of a PDU; as long as the PDU once its length is known. */
  #partial: Buffer = NONE
  #partialEnd = 0
  #isStopped = false

  constructor(visit: PduVisitor) {
    this.#visit = visit
  }

  get partialOctets(): number {
    return this.#partialEnd
  }

  /** Visits every PDU that the chunk completes; false if the framing is broken. */
  push(chunk: Buffer): boolean {
    let at = this.#partialEnd === 0 ? 0 : this.#complete(chunk)
    while (!this.#isStopped && chunk.length - at >= 4) {
      const length = readUint32(chunk, at)
      if (!isPduLength(length)) return this.#stop()
      const end = at + length
      if (end > chunk.length) break
      if (!this.#visit(chunk, at, end)) this.#stop()
      at = end
    }
    if (!this.#isStopped && at < chunk.length) this.#keep(chunk, at)
    return !this.#isStopped
  }

  #complete(chunk: Buffer): number {
    let at = 0
    if (this.#partialEnd < 4) {
      at = this.#fill(chunk, 0)
      if (this.#partialEnd < 4) return at
      const length = readUint32(this.#partial, 0)
      if (!isPduLength(length)) {
        this.#stop()
        return at
      }
      this.#widen(length)
    }
    at = this.#fill(chunk, at)
    if (this.#partialEnd === this.#partial.length) {
      const pdu = this.#partial
      this.#partial = NONE
      this.#partialEnd = 0
      if (!this.#visit(pdu, 0, pdu.length)) this.#stop()
    }
    return at
  }

  /** Copies the start of a PDU, so that a few bytes do not retain a whole chunk. */
  #keep(chunk: Buffer, at: number): void {
    const octets = chunk.length - at
    this.#partial = Buffer.allocUnsafeSlow(octets < 4 ? 4 : readUint32(chunk, at))
    this.#fill(chunk, at)
  }

  #widen(length: number): void {
    const whole = Buffer.allocUnsafeSlow(length)
    this.#partial.copy(whole, 0, 0, this.#partialEnd)
    this.#partial = whole
  }

  #fill(chunk: Buffer, at: number): number {
    const copied = chunk.copy(this.#partial, this.#partialEnd, at)
    this.#partialEnd += copied
    return at + copied
  }

  #stop(): false {
    this.#isStopped = true
    this.#partial = NONE
    this.#partialEnd = 0
    return false
  }
}

function isPduLength(length: number): boolean {
  return length >= HEADER_OCTETS && length <= PDU_OCTETS_MAX
}
