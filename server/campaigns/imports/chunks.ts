/** The SQL of uploaded bytes: pieces of one size, so that the offset of a byte tells its piece. Every query begins with the account. */
import type { Queryable, Tx } from '../../db/db.ts'

/** Bytes of each stored piece but the last. */
export const chunkBytes = 262_144

/** Reads a piece of the file, all of them but the last `chunkBytes` long; null behind the last. */
export type ReadChunk = (position: number) => Promise<Buffer | null>

/** Inserts one piece of the uploaded bytes. */
export async function insertChunk(
  tx: Tx,
  accountId: string,
  id: string,
  position: number,
  bytes: Buffer,
): Promise<void> {
  await tx.query({
    name: 'insert-import-chunk',
    text: 'insert into import_chunks (account_id, import_id, position, bytes) values ($1, $2, $3, $4)',
    values: [accountId, id, position, bytes],
  })
}

/** Reads one piece by the primary key; null behind the last. */
export async function readChunk(
  db: Queryable,
  accountId: string,
  id: string,
  position: number,
): Promise<Buffer | null> {
  const { rows } = await db.query<{ bytes: Buffer }>({
    name: 'read-import-chunk',
    text: `
      select bytes
      from import_chunks
      where account_id = $1
        and import_id = $2
        and position = $3`,
    values: [accountId, id, position],
  })
  return rows[0]?.bytes ?? null
}

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
