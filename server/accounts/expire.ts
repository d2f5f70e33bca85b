/** Forgets credentials that can no longer matter. */
import type { Db } from '../db/db.ts'

/**
 * Deletes tokens a day after their end (until then their owner is told that they expired, not that they never were) and failed logins
 * after a day of quiet. Index tokens_expires_at; login_failures is small. Any process may run it.
 */
export async function expireCredentials(db: Db): Promise<void> {
  await db.query("delete from tokens where expires_at < now() - interval '1 day'")
  await db.query("delete from login_failures where last_at < now() - interval '1 day'")
}
