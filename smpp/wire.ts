import type { Socket } from 'node:net'
import type { CommandName } from './commands.ts'
import { writePdu } from './encode.ts'
import type { FieldsInput } from './pdu.ts'
import type { Batch } from './window.ts'
import { PduWriter } from './writer.ts'

/** Unsent bytes above which reading stops, so that a peer that reads no answers gets no more to hold. */
const BACKLOG_OCTETS_MAX = 1024 * 1024

/** How long a finished connection waits for the peer to read the last PDU and to close. */
const LINGER_MS = 1_000

/** Reading resumes when no reason is left. */
export type PauseReason = 'owner' | 'unanswered' | 'backlog'

export interface WireEvents {
  onBytes(chunk: Buffer): void
  /** The connection is gone, or the peer has ended its half. `code` is of the error, else ''. */
  onLost(code: string): void
  onWritten: ((bytes: Buffer) => void) | undefined
}

/** One socket, written to once per turn of the event loop. */
export class Wire {
  readonly socket: Socket
  readonly #events: WireEvents
  readonly #writer = new PduWriter()
  readonly #pauses = new Set<PauseReason>()
  #batch: Batch | undefined
  #isClosed = false

  constructor(socket: Socket, events: WireEvents) {
    this.socket = socket
    this.#events = events
    socket.setNoDelay(true)
    socket.on('data', (chunk: Buffer) => {
      if (!this.#isClosed) events.onBytes(chunk)
    })
    socket.on('drain', () => this.resume('backlog'))
    // Any of these may report the end first.
    socket.on('end', () => this.#lose(''))
    socket.on('error', (error: NodeJS.ErrnoException) => this.#lose(error.code ?? error.message))
    socket.on('close', () => this.#lose(''))
  }

  /** Whether we are not reading by choice. A backlog is the peer's doing, and does not excuse its silence. */
  get isDeaf(): boolean {
    return this.#pauses.has('owner') || this.#pauses.has('unanswered')
  }

  /** Appends a PDU to this turn's write. Throws PduError, and appends nothing, if a field does not fit. */
  send<C extends CommandName>(command: C, fields: FieldsInput<C> | undefined, sequence: number, status: number): Batch {
    const writer = this.#writer
    const octets = writePdu(writer, command, fields, sequence, status)
    this.#events.onWritten?.(writer.bytes.subarray(writer.end - octets, writer.end))
    if (this.#batch !== undefined) return this.#batch
    this.#batch = { atMs: performance.now(), isWritten: false }
    // The check phase follows the poll phase directly: a turn's PDUs share one write without another turn's delay.
    setImmediate(() => this.#flush())
    return this.#batch
  }

  pause(reason: PauseReason): void {
    this.#pauses.add(reason)
    this.socket.pause()
  }

  resume(reason: PauseReason): void {
    if (this.#pauses.size > 0 && this.#pauses.delete(reason) && this.#pauses.size === 0) this.socket.resume()
  }

  /** Writes the rest, ends our half, lets the peer read it, then drops the connection. Reports nothing more. */
  finish(): void {
    this.#flush()
    this.#isClosed = true
    // Unread bytes would turn our end into a reset, which may overtake the last PDU.
    this.socket.resume()
    this.socket.end()
    const timer = setTimeout(() => this.socket.destroy(), LINGER_MS)
    this.socket.once('close', () => clearTimeout(timer))
  }

  destroy(): void {
    this.#isClosed = true
    this.socket.destroy()
  }

  #flush(): void {
    const batch = this.#batch
    if (batch === undefined || this.#isClosed) return
    this.#batch = undefined
    const bytes = this.#writer.take()
    if (!this.socket.writable) return
    batch.isWritten = true
    this.socket.write(bytes)
    // Mostly the kernel takes all of it immediately.
    if (this.socket.writableLength === 0) this.#writer.reuse()
    else if (this.socket.writableLength > BACKLOG_OCTETS_MAX) this.pause('backlog')
  }

  #lose(code: string): void {
    if (this.#isClosed) return
    this.destroy()
    this.#events.onLost(code)
  }
}
