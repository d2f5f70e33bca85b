/** Context and answers that single sends and batches share. */
import type { Db } from '../ground/db/db.ts'
import { ApiError, invalid, type FieldError } from '../ground/base/errors.ts'
import type { Needs } from '../events/events.ts'
import type { Caller } from '../ground/http/http.ts'
import { fingerprintInTurns, fingerprintOf, keyInProgress, keyReused } from '../ground/http/idempotency.ts'
import type { Acceptor } from './accept.ts'
import { asAccepted } from './accepted.ts'
import type { Accepted, Draft, Refusal, Stop } from '../message/draft.ts'
import { stopError } from '../guards/error.ts'
import type { OwnLinks } from '../message/handover.ts'
import type { MessageRow } from '../message/message.ts'
import { withHolds } from '../queue/place.ts'
import { findKey, findMessage, readMessages } from '../message/store.ts'

export type MessagesContext = Needs<
  'db' | 'vault' | 'texts' | 'outbox' | 'subscriptions' | 'refuseUrl' | 'shortUrl'
> & { acceptor: Acceptor; ownLinks: OwnLinks }

/** The mode is part of it: a message with a test key reaches no phone, so it must not replay a real one. */
export const fingerprintOfSend = ({ mode }: Caller, body: unknown): Buffer => fingerprintOf(ofMode(mode, body))

export const fingerprintOfBatch = ({ mode }: Caller, body: unknown): Promise<Buffer> =>
  fingerprintInTurns(ofMode(mode, body))

const ofMode = (mode: Caller['mode'], body: unknown): unknown => (mode === 'test' ? { test: body } : body)

/** One query; returns rows by id, as they were accepted. @throws ApiError if one has been deleted since. */
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

/** The row as it was accepted. @throws ApiError if the key came with another body. */
export async function replayedRow(
  db: Db,
  draft: Pick<Draft, 'accountId' | 'idempotency'>,
  known: { messageId: string | null; fingerprint: Buffer },
): Promise<MessageRow> {
  const { operation, key, fingerprint } = draft.idempotency ?? { operation: '', key: '', fingerprint: Buffer.alloc(0) }
  // Without an id, another process took the key while the statement ran; it is visible now.
  const found = known.messageId === null ? await findKey(db, draft.accountId, operation, key) : known
  if (!found?.messageId) throw keyInProgress()
  if (!found.fingerprint.equals(fingerprint)) throw keyReused()
  const row = await findMessage(db, draft.accountId, found.messageId)
  const [held] = row ? await withHolds(db, draft.accountId, [row]) : []
  if (!held) throw keyReused()
  return asAccepted(held)
}

/** The error for a refused single send. An unknown campaign hides an unknown sender or pool, so both are reported at once. */
export async function explainRefusal(
  acceptor: Pick<Acceptor, 'plan'>,
  draft: Draft,
  { refusal, stop, waitSeconds }: Extract<Accepted, { kind: 'refused' }>,
): Promise<ApiError> {
  const error = refusalError(refusal, stop, waitSeconds)
  if (refusal !== 'campaign_not_found') return error
  return invalid([...(error.options.errors ?? []), ...(await findMissingSender(acceptor, draft))])
}

/** Reports an unknown sender or pool, which depends on no campaign, by asking routing again. */
export async function findMissingSender(acceptor: Pick<Acceptor, 'plan'>, draft: Draft): Promise<FieldError[]> {
  if (draft.sender === null && draft.poolId === null) return []
  const [planned] = await acceptor.plan([{ ...draft, campaignId: null, campaignKey: null }])
  const refusal = planned?.route.refusal
  if (refusal !== 'sender_not_found' && refusal !== 'pool_not_found') return []
  return refusalError(refusal).options.errors ?? []
}

/** Wrong references become field errors; states become errors of their own. */
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
          'The recipient opted out of messages from the account, or was added to its opt-outs. Messages can be sent again when they reply START, or when their opt-out is deleted.',
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
