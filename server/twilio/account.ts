/** An account as Twilio's API shows it (https://www.twilio.com/docs/iam/api/account): what programs try their credentials with. */
import type { Queryable } from '../ground/db/db.ts'
import { showSid, twilioVersion } from '../post/twilio-words.ts'
import { messagesPath, twilioDate } from './resource.ts'

/** The resource of an account that is there; by primary key. The auth token is told once, where it was made. */
export async function readTwilioAccount(db: Queryable, accountId: string): Promise<Record<string, unknown>> {
  const { rows } = await db.query<{ name: string; status: string; createdAt: Date; updatedAt: Date }>(
    `select name, status, created_at as "createdAt", updated_at as "updatedAt" from accounts where id = $1`,
    [accountId],
  )
  const [row] = rows
  if (!row) throw new Error('callers have accounts')
  const sid = showSid('AC', accountId)
  return {
    auth_token: null,
    date_created: twilioDate(row.createdAt),
    date_updated: twilioDate(row.updatedAt),
    friendly_name: row.name,
    owner_account_sid: sid,
    sid,
    status: row.status,
    subresource_uris: { messages: `${messagesPath(accountId)}.json` },
    type: 'Full',
    uri: `/${twilioVersion}/Accounts/${sid}.json`,
  }
}
