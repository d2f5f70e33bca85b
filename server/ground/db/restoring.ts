/**
 * Marks a database that is being restored: a table that exists from before the first row until the last. If it stays, the restore was
 * interrupted.
 */
import type { Queryable } from './db.ts'

export const restoringTable = 'restoring'

class RestoringError extends Error {
  constructor() {
    super(
      'a restore into it was interrupted or is still running, so its data is incomplete. Wait until it ends, or run "heliogram restore" again: it starts from the beginning.',
    )
  }
}

/** Whether a restore is running, or was interrupted. */
export async function isRestoring(db: Queryable): Promise<boolean> {
  const { rows } = await db.query<{ is: boolean }>(`select to_regclass('${restoringTable}') is not null as is`)
  return rows[0]?.is === true
}

/** @throws if so, with a message for the operator. */
export async function requireWhole(db: Queryable): Promise<void> {
  if (await isRestoring(db)) throw new RestoringError()
}

/** Repeatable. */
export async function beginRestoring(db: Queryable): Promise<void> {
  await db.query(`create table if not exists ${restoringTable} (since timestamptz not null default now())`)
}

/** Call it in the transaction that completes the database. */
export async function endRestoring(db: Queryable): Promise<void> {
  await db.query(`drop table ${restoringTable}`)
}
