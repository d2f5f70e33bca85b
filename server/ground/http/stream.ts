import { Readable } from 'node:stream'

/**
 * A stream whose first two pieces are ready: the head of a file, and the first result of the database. Errors until then reject and become
 * a problem document; later ones can only end the connection. One piece waits while the previous one is sent.
 */
export async function openStream(pieces: AsyncGenerator<string>): Promise<Readable> {
  const begun: string[] = []
  for (let i = 0; i < 2; i++) {
    const { value, done } = await pieces.next()
    if (done) break
    begun.push(value)
  }
  const stream = Readable.from(goOn(begun, pieces), { highWaterMark: 1 })
  // A stream destroyed before its first read does not end its generator.
  stream.once('close', () => void pieces.return(undefined).catch(() => {}))
  return stream
}

async function* goOn(begun: readonly string[], pieces: AsyncGenerator<string>): AsyncGenerator<string> {
  yield* begun
  yield* pieces
}
