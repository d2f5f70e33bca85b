/** The SQL of uploaded bytes: pieces of one size, so that a byte's offset gives its piece. Every query begins with the account. */
import type { Queryable, Tx } from '../ground/db/db.ts'

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

/** By primary key; null behind the last piece. */
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
