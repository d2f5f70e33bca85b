import type { Socket } from 'node:net'
import { COMMANDS, HEADER_OCTETS, readUint32 } from '@heliogram/smpp'
import type { Faults } from './faults.ts'

/** Shortest interval of writes on a slow line. */
const DRIBBLE_MS = 50

/** SMPP 3.4 §3.2. */
const ID_AT = 4

/**
 * A connection with the carrier's faults. All writes of its session pass through here as whole PDUs: some are dropped, all are slowed, or nothing
 * passes in either direction.
 */
export class Line {
  readonly socket: Socket
  readonly #faults: Readonly<Faults>
  readonly #write: (bytes: Uint8Array) => boolean
  #isDead = false
  #slow = Buffer.alloc(0)
  #timer: NodeJS.Timeout | undefined

  constructor(socket: Socket, faults: Readonly<Faults>) {
    this.socket = socket
    this.#faults = faults
    this.#write = socket.write.bind(socket)
    // A session writes only Buffers.
    socket.write = (bytes: string | Uint8Array) => this.write(bytes as Buffer)
    socket.once('close', () => clearInterval(this.#timer))
  }

  /** Writes whole PDUs, or broken ones, as far as the faults allow. */
  write(bytes: Buffer): boolean {
    const { octetsPerSecond } = this.#faults
    if (this.#isDead || !this.socket.writable) return true
    const left = this.#silence(bytes)
    if (octetsPerSecond === 0 && this.#slow.length === 0) return left.length === 0 || this.#write(left)
    this.#slow = Buffer.concat([this.#slow, left])
    this.#dribble()
    return true
  }

  /** From now on discards received bytes and sends nothing, for good: the session has lost its place in the stream. */
  kill(): void {
    this.#isDead = true
    this.socket.removeAllListeners('data').on('data', () => {})
  }

  #dribble(): void {
    const { octetsPerSecond } = this.#faults
    if (this.#timer !== undefined || this.#slow.length === 0) return
    const everyMs = Math.max(DRIBBLE_MS, 1_000 / octetsPerSecond)
    const octets =
      octetsPerSecond === 0 ? this.#slow.length : Math.max(1, Math.round((octetsPerSecond * everyMs) / 1_000))
    this.#timer = setTimeout(
      () => {
        this.#timer = undefined
        if (this.socket.writable && !this.#isDead) this.#write(this.#slow.subarray(0, octets))
        this.#slow = this.#slow.subarray(octets)
        this.#dribble()
      },
      octetsPerSecond === 0 ? 0 : everyMs,
    )
  }

  /** Drops the answers that the faults forbid; an echo returns the request. */
  #silence(bytes: Buffer): Buffer {
    const { enquire, unbind } = this.#faults
    if (enquire === 'answer' && unbind === 'answer') return bytes
    const left: Buffer[] = []
    for (let at = 0; at + HEADER_OCTETS <= bytes.length;) {
      const end = at + Math.max(HEADER_OCTETS, readUint32(bytes, at))
      const id = readUint32(bytes, at + ID_AT)
      const isEnquire = id === COMMANDS.enquire_link_resp.id
      const isSilenced = (isEnquire && enquire === 'silent') || (id === COMMANDS.unbind_resp.id && unbind === 'silent')
      const pdu = Buffer.from(bytes.subarray(at, end))
      if (isEnquire && enquire === 'echo') pdu.writeUInt32BE(COMMANDS.enquire_link.id, ID_AT)
      if (!isSilenced) left.push(pdu)
      at = end
    }
    return Buffer.concat(left)
  }
}
