/** What single sends and batches share: their context and their answers. */
import type { Db } from '../db/db.ts'
import { ApiError, invalid, type FieldError } from '../errors.ts'
import type { Outbox, Subscriptions } from '../events.ts'
import { keyInProgress, keyReused } from '../idempotency.ts'
import type { Vault } from '../secrets.ts'
import { type Acceptor } from './accept.ts'
import { asAccepted, type Draft, type Refusal } from './accepted.ts'
import type { Slots } from './handover.ts'
import type { MessageRow } from './message.ts'
import { findKey, findMessage } from './store.ts'

/** What the routes of messages need. */
export interface MessagesContext {
  db: Db
  vault: Vault
  acceptor: Acceptor
  slots: Slots
  outbox: Outbox
  subscriptions: Subscriptions
  /** Why a callback address may not be called, or null. */
  refuseUrl: (url: string) => string | null
  /** Address of short links without a slash at the end; none: they are off. */
  shortUrl?: string | null
}

/** The row of a key that was used before, as it was then. @throws ApiError when the key came with another body. */
export async function replayedRow(
  db: Db,
  draft: Pick<Draft, 'accountId' | 'idempotency'>,
  known: { messageId: string | null; fingerprint: Buffer },
): Promise<MessageRow> {
  const { operation, key, fingerprint } = draft.idempotency ?? { operation: '', key: '', fingerprint: Buffer.alloc(0) }
  // Without an id the key was taken by another process while the statement ran: it is visible now.
  const found = known.messageId === null ? await findKey(db, draft.accountId, operation, key) : known
  if (!found?.messageId) throw keyInProgress()
  if (!found.fingerprint.equals(fingerprint)) throw keyReused()
  const row = await findMessage(db, draft.accountId, found.messageId)
  if (!row) throw keyReused()
  return asAccepted(row)
}

/** The answer to a refusal: wrong references are field errors, states are answers of their own. */
export function refusalError(refusal: Refusal): ApiError {
  const field = (pointer: string, code: FieldError['code'], detail: string): ApiError =>
    invalid([{ pointer, code, detail }])
  switch (refusal) {
    case 'campaign_not_found':
      return field(
        '#/campaign',
        'campaign_not_found',
        'is not a campaign of this account; create it with POST /v1/campaigns',
      )
    case 'sender_not_found':
      return field('#/from', 'sender_not_found', 'is not a sender of this account')
    case 'sender_not_allowed':
      return field('#/from', 'sender_not_allowed', 'cannot be used for this recipient; POST /v1/routes/test says why')
    case 'pool_not_found':
      return field('#/sender_pool', 'pool_not_found', 'is not a sender pool of this account')
    case 'campaign_closed':
    case 'recipient_opted_out':
    case 'no_route_available':
    case 'account_suspended':
      return new ApiError(refusal)
    default:
      return refusal satisfies never
  }
}
