/** Answers that are sent in pieces. */
import { Readable } from 'node:stream'

/**
 * A stream of pieces whose first two are there: the head of a file, which comes from nowhere, and what follows it, which the database has
 * answered. What goes wrong until then rejects, so that it is answered as a problem; later, only the end of the connection can tell. One
 * piece waits while the one before it is on its way.
 */
export async function openStream(pieces: AsyncGenerator<string>): Promise<Readable> {
  const begun: string[] = []
  for (let i = 0; i < 2; i++) {
    const { value, done } = await pieces.next()
    if (done) break
    begun.push(value)
  }
  const stream = Readable.from(goOn(begun, pieces), { highWaterMark: 1 })
  // One that is destroyed before it is read has not begun what would end them.
  stream.once('close', () => void pieces.return(undefined).catch(() => {}))
  return stream
}

async function* goOn(begun: readonly string[], pieces: AsyncGenerator<string>): AsyncGenerator<string> {
  yield* begun
  yield* pieces
}
