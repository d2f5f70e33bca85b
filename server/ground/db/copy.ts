/** PostgreSQL's COPY, in pieces: `pg` has the messages, but no public call. */
import type { Duplex } from 'node:stream'
import type { Connection as Wire, Submittable } from 'pg'
import type { Tx } from './db.ts'

/** Missing from pg's types. */
interface CopyWire extends Wire {
  readonly stream: Duplex
  sendCopyFromChunk(chunk: Buffer): void
  endCopyFrom(): void
  sendCopyFail(reason: string): void
}

/** Called by pg for a custom statement. */
interface CopyStatement extends Submittable {
  handleCommandComplete(message: { text: string }): void
  handleReadyForQuery(): void
  handleError(error: Error): void
}

const rowsOf = (tag: string): number => Number(/^COPY (\d+)$/.exec(tag)?.[1] ?? 0)

/**
 * Runs `copy … to stdout` and passes pieces of whole rows to `take`, of `pieceBytes` except the last and those of longer rows; a piece is
 * valid until `take` settles. Meanwhile nothing is read, so that PostgreSQL waits too. Returns the number of rows.
 */
export function copyOut(
  tx: Tx,
  statement: string,
  pieceBytes: number,
  take: (piece: Buffer) => Promise<void>,
): Promise<number> {
  return new Promise((resolve, reject) => {
    let wire: CopyWire | null = null
    let rows = 0
    let room = Buffer.allocUnsafeSlow(pieceBytes)
    let spare = Buffer.allocUnsafeSlow(pieceBytes)
    let bytes = 0
    let taking: Promise<void> | null = null
    let failure: Error | null = null
    const isFull = (): boolean => bytes >= pieceBytes
    const hasFailed = (): boolean => failure !== null
    const add = (chunk: Buffer): void => {
      if (bytes + chunk.length > room.length) {
        const larger = Buffer.allocUnsafeSlow(Math.max(room.length * 2, bytes + chunk.length))
        room.copy(larger, 0, 0, bytes)
        room = larger
      }
      chunk.copy(room, bytes)
      bytes += chunk.length
    }
    const flush = async (): Promise<void> => {
      const [taken, length] = [room, bytes]
      // Data already read arrives during this call.
      room = spare
      bytes = 0
      await take(taken.subarray(0, length))
      spare = taken
    }
    const pump = async (): Promise<void> => {
      wire?.stream.pause()
      // Data already read still arrives, and may be another piece.
      while (isFull()) await flush()
      taking = null
      wire?.stream.resume()
    }
    const fail = (error: unknown): void => {
      failure = error instanceof Error ? error : new Error(String(error))
      // The rest of the table has no reader: the connection is useless.
      wire?.stream.destroy(failure)
    }
    const copying: CopyStatement & { handleCopyData(message: { chunk: Buffer }): void } = {
      submit(connection) {
        wire = connection as CopyWire
        wire.query(statement)
      },
      handleCopyData({ chunk }) {
        // Copied: it is a view of pg's read buffer.
        add(chunk)
        if (isFull()) taking ??= pump().catch(fail)
      },
      handleCommandComplete({ text }) {
        rows = rowsOf(text)
      },
      handleReadyForQuery() {
        void Promise.resolve(taking)
          .then(() => (bytes > 0 && !hasFailed() ? flush() : undefined))
          .then(() => (failure ? reject(failure) : resolve(rows)), reject)
      },
      handleError(error) {
        reject(failure ?? error)
      },
    }
    tx.query(copying)
  })
}

export interface CopyIn {
  /** Resolves when there is room for more. @throws PostgreSQL's error for a row. */
  write(piece: Buffer): Promise<void>
  end(): Promise<number>
}

export async function copyIn(tx: Tx, statement: string): Promise<CopyIn> {
  const began = Promise.withResolvers<CopyWire>()
  const ended = Promise.withResolvers<number>()
  // Callers of write and end get the error; until then it is unhandled.
  ended.promise.catch(() => {})
  let failure: Error | null = null
  let rows = 0
  let wire: CopyWire | null = null
  const copying: CopyStatement & { handleCopyInResponse(connection: CopyWire): void } = {
    submit(connection) {
      wire = connection as CopyWire
      wire.query(statement)
    },
    handleCopyInResponse: (connection) => began.resolve(connection),
    handleCommandComplete({ text }) {
      rows = rowsOf(text)
    },
    handleReadyForQuery: () => ended.resolve(rows),
    handleError(error) {
      failure ??= error
      began.reject(error)
      ended.reject(error)
    },
  }
  tx.query(copying)
  const { stream } = await began.promise
  return {
    async write(piece) {
      if (failure) throw failure
      wire?.sendCopyFromChunk(piece)
      if (!stream.writableNeedDrain) return
      const drained = Promise.withResolvers<void>()
      stream.once('drain', drained.resolve)
      await Promise.race([drained.promise, ended.promise])
      stream.off('drain', drained.resolve)
    },
    end() {
      if (!failure) wire?.endCopyFrom()
      return ended.promise
    },
  }
}
