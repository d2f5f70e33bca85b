import type { Db } from '../ground/db/db.ts'

/**
 * Deletes tokens a day after their end (until then their owner gets `expired_token`), failed logins after a quiet day, known networks of
 * users after 90 days, and invitations a month after their end. Index tokens_expires_at; the others are small. Any process may run it.
 */
export async function expireCredentials(db: Db): Promise<void> {
  await db.query("delete from tokens where expires_at < now() - interval '1 day'")
  await db.query("delete from invitations where expires_at < now() - interval '30 days'")
  await db.query("delete from login_failures where last_at < now() - interval '1 day'")
  await db.query("delete from known_logins where last_at < now() - interval '90 days'")
}
