import type { Queryable, Tx } from '../ground/db/db.ts'
import type { DestroyPiece } from '../events/face.ts'
import type { PagePlace } from '../ground/http/page.ts'
import { listRows } from '../ground/http/search.ts'

export interface ErasureRow {
  id: string
  /** Null: the number is erased. */
  number: string | null
  reason: string | null
  erased: Record<string, number>
  createdAt: Date
  completedAt: Date | null
}

const columns = `id, number, reason, erased, created_at as "createdAt", completed_at as "completedAt"`

/** Starts the erasure of a number, or finds the one in progress. By the unique (account_id, number). */
export async function insertErasure(
  tx: Tx,
  accountId: string,
  erasure: { id: string; number: string; reason: string | null },
): Promise<{ row: ErasureRow; isNew: boolean }> {
  const { rows } = await tx.query<ErasureRow & { isNew: boolean }>({
    name: 'insert-erasure',
    text: `
      insert into erasures as e (account_id, id, number, reason)
      values ($1, $2, $3, $4)
      on conflict (account_id, number) where number is not null do update
      set number = e.number
      returning ${columns}, id = $2 as "isNew"`,
    values: [accountId, erasure.id, erasure.number, erasure.reason],
  })
  const [first] = rows
  if (!first) throw new Error('an upsert returned no row')
  const { isNew, ...row } = first
  return { row, isNew }
}

/** By primary key. */
export async function findErasure(db: Queryable, accountId: string, id: string): Promise<ErasureRow | null> {
  const { rows } = await db.query<ErasureRow>({
    name: 'find-erasure',
    text: `select ${columns} from erasures where account_id = $1 and id = $2`,
    values: [accountId, id],
  })
  return rows[0] ?? null
}

/** One page by the primary key, in the order of `buildPage`, with one row more than `limit`. */
export const listErasures = (db: Queryable, accountId: string, ...place: PagePlace): Promise<ErasureRow[]> =>
  listRows(db, { table: 'erasures', columns, accountId }, ...place)

/** Deletes a batch of an account's erasure reasons; returns their number. Prefix of the primary key. */
export const deleteReasonsOf: DestroyPiece = async (tx, accountId) => {
  const { rowCount } = await tx.query({
    name: 'delete-reasons-of-account',
    text: `
      update erasures
      set reason = null
      where ctid = any (array(select ctid from erasures where account_id = $1 and reason is not null limit 500))`,
    values: [accountId],
  })
  return rowCount ?? 0
}
