/** An account as Twilio's API shows it (https://www.twilio.com/docs/iam/api/account). Programs fetch it to test their credentials. */
import type { Queryable } from '../ground/db/db.ts'
import { showSid, twilioVersion } from '../post/twilio-words.ts'
import { messagesPath, twilioDate } from './resource.ts'

/** By primary key. Without the auth token, which is shown once, when it is created. */
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
