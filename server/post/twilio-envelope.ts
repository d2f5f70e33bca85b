/** A post in Twilio's form. */
import type { Db } from '../ground/db/db.ts'
import type { DuePost } from '../events/events.ts'
import { showId } from '../ground/base/ids.ts'
import { twilioTokenPurpose } from './twilio-words.ts'
import type { Vault } from '../ground/sealing/vault.ts'
import { targetOf } from './post.ts'
import { signTwilio, twilioParameters } from './twilio-form.ts'

/** A sealed auth token; nulls if there is none. */
export interface SealedToken {
  tokenId: string | null
  token: Buffer | null
}

/** SQL of the auth token that signs an account's posts in that form: the oldest one. By primary key prefix. */
export const oldestToken = (account: string): string => `
  select id, token_sealed as token
  from twilio_credentials
  where account_id = ${account}
    and revoked_at is null
  order by id
  limit 1`

/** Null if there is none. */
export function openToken(vault: Vault, accountId: string, { tokenId, token }: SealedToken): string | null {
  return tokenId && token ? vault.open(token, twilioTokenPurpose(accountId, tokenId)) : null
}

/** Null if there is none. */
export async function openTwilioToken(db: Db, vault: Vault, accountId: string): Promise<string | null> {
  const { rows } = await db.query<SealedToken>(`select t.id as "tokenId", t.token from (${oldestToken('$1')}) t`, [
    accountId,
  ])
  return rows[0] ? openToken(vault, accountId, rows[0]) : null
}

/** Headers (names and values in turn) and body of an event in Twilio's form; null: it has none for this event. */
export function wrapForTwilio(
  url: string,
  token: string | null,
  { accountId, eventId, payload }: Pick<DuePost, 'accountId' | 'eventId'> & { payload: string },
  headers: readonly string[],
): { headers: string[]; body: string; url: string; isIncoming: boolean } | null {
  const told = twilioParameters(accountId, payload)
  if (!told) return null
  const { parameters, isIncoming } = told
  // As the receiver sees it: with the path `/` if there is none, and with the URL parser's escapes.
  const { origin, path } = targetOf(url)
  const own = [
    'content-type',
    'application/x-www-form-urlencoded',
    'i-twilio-idempotency-token',
    showId('evt', eventId),
  ]
  const signature = token === null ? [] : ['x-twilio-signature', signTwilio(token, origin + path, parameters)]
  return {
    headers: [...withoutContentType(headers), ...own, ...signature],
    body: new URLSearchParams(parameters).toString(),
    url: origin + path,
    isIncoming,
  }
}

function withoutContentType(headers: readonly string[]): string[] {
  return headers.filter((_, i) => headers[i - (i % 2)] !== 'content-type')
}
