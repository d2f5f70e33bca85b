/** Bytes of each stored piece but the last, so that a byte's offset gives its piece. */
export const chunkBytes = 262_144

/** Reads a piece, `chunkBytes` long except the last; null after the last. */
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

/** Shorter at the end of the file. */
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
