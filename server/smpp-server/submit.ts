/** Accepts a submit_sm through the same path as HTTP requests. */
import type { Needs } from '../events/events.ts'
import { ESME, type PduOf } from '@heliogram/smpp'
import { now as readNow } from '../ground/db/clock.ts'
import type { Db } from '../ground/db/db.ts'
import { isUnavailable } from '../ground/db/failure.ts'
import { CrowdedError } from '../ground/db/shares.ts'
import type { InOrder } from '../ground/base/in-order.ts'
import type { Acceptor } from '../accept/accept.ts'
import type { Draft, Refusal } from '../message/draft.ts'
import { textMax } from '../message/send-schema.ts'
import { findKey } from '../message/store.ts'
import { clientErrs } from '../message/taxonomy.ts'
import type { Admission } from './bind.ts'
import { showClientId } from './client-id.ts'
import {
  gatherPart,
  endGathering,
  gatheringKey,
  isWhole,
  partIdOf,
  refuseGathering,
  takePartBack,
  type Gathering,
} from './gather.ts'
import type { PendingReceipts } from './pending.ts'
import type { Rate } from './rate.ts'
import { undecryptableErr } from './state.ts'
import { draftSubmit, isPart, readSubmit, withoutPadding, type Submit } from './read-submit.ts'

export interface SubmitContext extends Needs<'db' | 'texts'> {
  acceptor: Acceptor
  pending: PendingReceipts
}

/** The command_status of a submit_sm_resp, with an id if it is ESME_ROK. */
export type SubmitAnswer = { status: number; messageId?: string }

/** Operation of a gathering's idempotency key: if a node dies during the send, no second message results. */
export const gatheringOperation = 'smpp.submit'

// No accepted text has more octets: four a character, in UTF-8 and in UCS-2. The rest of a longer part is NULs.
const partOctetsMax = 4 * textMax

interface PartsContext extends SubmitContext {
  /** By gathering key: some clients use one reference for all long messages, and send the next one without a pause. */
  parts: InOrder
}

/**
 * Resolves when the submission is on disk. A part waits for earlier ones of the same numbers and reference, and for their message. @throws
 * database errors.
 */
export async function submit(
  context: PartsContext,
  admission: Admission,
  rate: Rate,
  pdu: PduOf<'submit_sm'>,
  now: Date = readNow(),
): Promise<SubmitAnswer> {
  const read = readSubmit(pdu, now, admission)
  if (typeof read === 'number') return { status: read }
  // Checks a part as a message of its own first: an invalid number is refused before anything is stored.
  const draft = draftSubmit(admission, [read], now)
  if (typeof draft === 'number') return { status: draft }
  if (!rate.take(isPart(read) ? 1 : draft.segments)) return { status: ESME.RTHROTTLED }
  if (!isPart(read)) return submitWhole(context, admission, read, draft)
  return context.parts.run(gatheringKey(admission, read), () => submitPart(context, admission, read, now))
}

async function submitWhole(
  context: SubmitContext,
  admission: Admission,
  { registeredDelivery }: Submit,
  draft: Draft,
): Promise<SubmitAnswer> {
  const accepted = await context.acceptor.accept(draft)
  if (accepted.kind === 'refused') return { status: statusOfRefusal(accepted.refusal) }
  if (accepted.kind !== 'accepted') throw new Error('a message without a key was known')
  const messageId = accepted.row.id
  await note(context, admission, messageId, messageId, [registeredDelivery])
  return { status: ESME.ROK, messageId: showClientId(messageId) }
}

async function submitPart(
  context: SubmitContext,
  admission: Admission,
  read: Submit,
  now: Date,
): Promise<SubmitAnswer> {
  const part = withoutPadding(read.part, admission.defaultAlphabet)
  if (part.body.length > partOctetsMax) return { status: ESME.RINVMSGLEN }
  const gathering = await gatherPart(context, admission, { ...read, part })
  if (!gathering) return { status: ESME.RMSGQFUL }
  // Not a temporary error: a repeated part would join the other text.
  if (gathering.isCrossed) return { status: ESME.RSUBMITFAIL }
  const number = part.concatenation?.part ?? 1
  const messageId = partIdOf(gathering, number)
  if (!isWhole(gathering)) return { status: ESME.ROK, messageId }
  const status = await submitGathered(context, admission, gathering, number, now)
  return status === ESME.ROK ? { status, messageId } : { status }
}

/**
 * Sends a gathering, once, however often it is called. If refused, `lastPart` gets the reason, and earlier parts get receipts; null: all
 * parts do. If refused temporarily, or not stored, the parts wait for a repeated `lastPart`.
 */
export async function submitGathered(
  context: SubmitContext,
  admission: Admission,
  gathering: Gathering,
  lastPart: number | null,
  now: Date = readNow(),
): Promise<number> {
  // Its time was valid when each part was taken; if it is past by now, it means now.
  const submits = [...gathering.submits.values()].map((one) => ({
    ...one,
    sendAt: one.sendAt && one.sendAt > now ? one.sendAt : null,
  }))
  const draft = draftSubmit(admission, submits, now)
  const refuse = async (status: number): Promise<number> => {
    const answered = [...gathering.submits.keys()].filter((part) => part !== lastPart)
    await refuseGathering(context.db, gathering, 'rejected', answered, errOfStatus(status))
    return status
  }
  if (typeof draft === 'number') return refuse(draft)
  const key = showClientId(gathering.id)
  draft.idempotency = { operation: gatheringOperation, key, fingerprint: Buffer.from(gathering.id) }
  const accepted = await context.acceptor.accept(draft).catch(async (error: unknown) => {
    // If the accept is uncertain the part stays, and the complete message is sent when overdue.
    if (error instanceof CrowdedError)
      return { kind: 'refused' as const, refusal: 'queue_full' as const, stop: null, waitSeconds: 1 }
    if (lastPart !== null && !isUnavailable(error)) await takePartBack(context.db, gathering.id, lastPart)
    throw error
  })
  if (accepted.kind === 'refused') {
    const status = statusOfRefusal(accepted.refusal)
    if (lastPart === null || (status !== ESME.RTHROTTLED && status !== ESME.RMSGQFUL)) return refuse(status)
    await takePartBack(context.db, gathering.id, lastPart)
    return status
  }
  const messageId =
    accepted.kind === 'accepted' ? accepted.row.id : (accepted.messageId ?? (await findMessageOf(context.db, draft)))
  const flags = submits.map(({ registeredDelivery }) => registeredDelivery)
  // The note ends the gathering itself.
  const isNoted = await note(context, admission, messageId, gathering.id, flags, gathering.id)
  if (!isNoted) await endGathering(context.db, gathering.id)
  return ESME.ROK
}

/** The message of a key that another process has just taken. */
async function findMessageOf(db: Db, { accountId, idempotency }: Draft): Promise<string> {
  const known = await findKey(db, accountId, gatheringOperation, idempotency?.key ?? '')
  if (!known) throw new Error('a known key has no message')
  return known.messageId
}

function note(
  { pending }: SubmitContext,
  { accountId, credentialId }: Admission,
  messageId: string,
  clientId: string,
  registeredDelivery: number[],
  gatheringId?: string,
): Promise<boolean> {
  return pending.note({
    accountId,
    messageId,
    credentialId,
    clientId,
    registeredDelivery,
    ...(gatheringId !== undefined && { gatheringId }),
  })
}

/** `err` of the receipts for parts of a message that was refused with a command_status. */
function errOfStatus(status: number): string {
  switch (status) {
    case ESME.RINVSRCADR:
      return clientErrs.invalid_sender
    case ESME.RINVDSTADR:
      return clientErrs.invalid_destination
    case ESME.RINVMSGLEN:
      return clientErrs.message_too_long
    case ESME.RMSGQFUL:
      return clientErrs.queue_full
    case ESME.RINVDCS:
      return undecryptableErr
    default:
      return clientErrs.no_route_available
  }
}

/** A refusal as a command_status. Permanent refusals must not look temporary: some clients retry forever. */
function statusOfRefusal(refusal: Refusal): number {
  switch (refusal) {
    case 'sender_not_found':
    case 'sender_not_allowed':
    case 'pool_not_found':
      return ESME.RINVSRCADR
    case 'recipient_opted_out':
    case 'destination_not_allowed':
    case 'premium_number_not_allowed':
      return ESME.RINVDSTADR
    case 'account_suspended':
      return ESME.RPROHIBITED
    case 'queue_full':
      return ESME.RMSGQFUL
    case 'no_route_available':
    case 'max_price_exceeded':
    case 'test_mode_unavailable':
    case 'campaign_not_found':
    case 'campaign_closed':
    case 'fraud_suspected':
    case 'duplicate_message':
      return ESME.RSUBMITFAIL
    case 'spend_limit_reached':
    case 'country_limit_reached':
      return ESME.RTHROTTLED
    default:
      return refusal satisfies never
  }
}
