/** A file in pieces of one size, so that the offset of a byte tells its piece. */

/** Bytes of each stored piece but the last. */
export const chunkBytes = 262_144

/** Reads a piece of the file, all of them but the last `chunkBytes` long; null behind the last. */
export type ReadChunk = (position: number) => Promise<Buffer | null>

/** The file from a byte on in pieces. */
export async function* bytesFrom(read: ReadChunk, start = 0): AsyncGenerator<Buffer> {
  let skip = start % chunkBytes
  for (let position = Math.floor(start / chunkBytes); ; position++) {
    const chunk = await read(position)
    if (!chunk) return
    yield skip === 0 ? chunk : chunk.subarray(skip)
    skip = 0
  }
}

/** A slice of the file; shorter where the file ends in it. */
export async function readBytes(read: ReadChunk, start: number, length: number): Promise<Buffer> {
  const pieces: Buffer[] = []
  let missing = length
  for await (const bytes of bytesFrom(read, start)) {
    pieces.push(bytes.subarray(0, missing))
    missing -= Math.min(missing, bytes.length)
    if (missing === 0) break
  }
  return Buffer.concat(pieces)
}
