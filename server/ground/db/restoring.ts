/** That a database is being restored: a table that is there from before the first row until the last. Where it stays, the restore was interrupted. */
import type { Queryable } from './db.ts'

/** Its name. */
export const restoringTable = 'restoring'

class RestoringError extends Error {
  constructor() {
    super(
      'a restore into it was interrupted or is still running, so its data is incomplete. Wait until it ends, or run "heliogram restore" again: it starts from the beginning.',
    )
  }
}

/** Whether a database is being restored, or was and is not whole. */
export async function isRestoring(db: Queryable): Promise<boolean> {
  const { rows } = await db.query<{ is: boolean }>(`select to_regclass('${restoringTable}') is not null as is`)
  return rows[0]?.is === true
}

/** @throws where it is, for the person who starts something on it. */
export async function requireWhole(db: Queryable): Promise<void> {
  if (await isRestoring(db)) throw new RestoringError()
}

/** Begins a restore. Repeatable. */
export async function beginRestoring(db: Queryable): Promise<void> {
  await db.query(`create table if not exists ${restoringTable} (since timestamptz not null default now())`)
}

/** Ends it, in the transaction that makes the database whole. */
export async function endRestoring(db: Queryable): Promise<void> {
  await db.query(`drop table ${restoringTable}`)
}
