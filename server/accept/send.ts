/** What single sends and batches share: their context and their answers. */
import type { Db } from '../ground/db/db.ts'
import { ApiError, invalid, type FieldError } from '../ground/base/errors.ts'
import type { Outbox, Subscriptions } from '../events/events.ts'
import type { Caller } from '../ground/http/http.ts'
import { fingerprintInTurns, fingerprintOf, keyInProgress, keyReused } from '../ground/http/idempotency.ts'
import type { Texts } from '../ground/sealing/texts.ts'
import type { Vault } from '../ground/sealing/vault.ts'
import { type Acceptor } from './accept.ts'
import { asAccepted } from './accepted.ts'
import type { Accepted, Draft, Refusal, Stop } from '../message/draft.ts'
import { stopError } from '../guards/error.ts'
import type { Slots } from '../message/handover.ts'
import type { MessageRow } from '../message/message.ts'
import { withHolds } from '../queue/place.ts'
import { findKey, findMessage, readMessages } from '../message/store.ts'

export interface MessagesContext {
  db: Db
  vault: Vault
  texts?: Texts
  acceptor: Acceptor
  slots: Slots
  outbox: Outbox
  subscriptions: Subscriptions
  /** Why a callback address may not be called, or null. */
  refuseUrl: (url: string) => string | null
  /** Address of short links without a slash at the end; none: they are off. */
  shortUrl?: string | null
}

/** The fingerprint of a request to send; another with a test key, whose messages nobody gets: none is taken for the other. */
export const fingerprintOfSend = ({ mode }: Caller, body: unknown): Buffer => fingerprintOf(ofMode(mode, body))

/** The same of a batch. */
export const fingerprintOfBatch = ({ mode }: Caller, body: unknown): Promise<Buffer> =>
  fingerprintInTurns(ofMode(mode, body))

const ofMode = (mode: Caller['mode'], body: unknown): unknown => (mode === 'test' ? { test: body } : body)

/** Reads messages that were accepted before, all at once; answers for each id its row, as it was then. @throws ApiError where one has gone since. */
export async function readReplayed(
  db: Db,
  accountId: string,
  ids: readonly string[],
): Promise<(id: string) => MessageRow> {
  const keys = ids.map((id) => ({ accountId, id }))
  const read = keys.length > 0 ? [...(await readMessages(db, keys)).values()] : []
  const rows = new Map((await withHolds(db, accountId, read)).map((row) => [row.id, asAccepted(row)]))
  return (id) => {
    const row = rows.get(id)
    if (!row) throw keyReused()
    return row
  }
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
  const [held] = row ? await withHolds(db, draft.accountId, [row]) : []
  if (!held) throw keyReused()
  return asAccepted(held)
}

/** The answer to the refusal of a single send. A campaign that is none hides a sender or pool that is none: both are told at once. */
export async function explainRefusal(
  acceptor: Pick<Acceptor, 'plan'>,
  draft: Draft,
  { refusal, stop, waitSeconds }: Extract<Accepted, { kind: 'refused' }>,
): Promise<ApiError> {
  const error = refusalError(refusal, stop, waitSeconds)
  if (refusal !== 'campaign_not_found') return error
  return invalid([...(error.options.errors ?? []), ...(await findMissingSender(acceptor, draft))])
}

/** What is wrong with the sender or pool that a draft names, where there is none; that depends on no campaign. Routing is asked again for it. */
export async function findMissingSender(acceptor: Pick<Acceptor, 'plan'>, draft: Draft): Promise<FieldError[]> {
  if (draft.sender === null && draft.poolId === null) return []
  const [planned] = await acceptor.plan([{ ...draft, campaignId: null, campaignKey: null }])
  const refusal = planned?.route.refusal
  if (refusal !== 'sender_not_found' && refusal !== 'pool_not_found') return []
  return refusalError(refusal).options.errors ?? []
}

/** The answer to a refusal: wrong references are field errors, states are answers of their own. */
export function refusalError(refusal: Refusal, stop: Stop | null = null, waitSeconds: number | null = null): ApiError {
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
      return field(
        '#/from',
        'sender_not_allowed',
        'cannot be used for this recipient; POST /v1/routes/test explains why',
      )
    case 'pool_not_found':
      return field('#/sender_pool', 'pool_not_found', 'is not a sender pool of this account')
    case 'recipient_opted_out':
      return new ApiError(refusal, {
        detail:
          'The recipient opted out of messages from the account, or was added to its opt-outs. Messages can be sent again when they reply START, or after DELETE /v1/opt-outs/{number}.',
      })
    case 'campaign_closed':
      return new ApiError(refusal, { detail: 'The campaign is archived or canceled; use another, or none.' })
    case 'no_route_available':
      return new ApiError(refusal, {
        detail: 'There is no carrier for it, or a route refuses it: POST /v1/routes/test shows which.',
      })
    case 'premium_number_not_allowed':
      return new ApiError(refusal, {
        detail:
          'Such numbers cost extra, and their owner may earn from each message. To allow them, set allow_premium_numbers with PATCH /v1/settings.',
      })
    case 'max_price_exceeded':
    case 'test_mode_unavailable':
    case 'account_suspended':
      return new ApiError(refusal)
    case 'queue_full':
      return new ApiError('queue_full', {
        detail: 'The queue already has as much as the account can send in four hours.',
        retryAfterSeconds: waitSeconds ?? 1,
      })
    case 'destination_not_allowed':
    case 'spend_limit_reached':
    case 'country_limit_reached':
    case 'fraud_suspected':
    case 'duplicate_message':
      return stopError(refusal, stop)
    default:
      return refusal satisfies never
  }
}
