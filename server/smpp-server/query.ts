/** query_sm and cancel_sm: reads a message of the account, or cancels it before a carrier has it. */
import { ESME, formatAbsoluteTime, MESSAGE_STATES, type PduOf } from '@heliogram/smpp'
import type { Db } from '../ground/db/db.ts'
import type { Recording } from '../events/events.ts'
import { cancelMessage } from '../messages/cancel.ts'
import { isFinal, type MessageRow } from '../message/message.ts'
import { findKey, findMessage } from '../message/store.ts'
import { clientErrs } from '../message/taxonomy.ts'
import type { Admission } from './bind.ts'
import { parseClientId, showClientId } from './client-id.ts'
import { settlePending } from './pending.ts'
import { stateOf } from './state.ts'
import { gatheringOperation } from './submit.ts'

/** Fields of a query_sm_resp, or the error. */
export type QueryAnswer =
  | { status: number }
  | { status: 0; message_id: string; final_date: string; message_state: number; error_code: number }

/** Answers a query_sm (SMPP 3.4 §4.8). Any message of the account, however it was sent. */
export async function query(db: Db, accountId: string, pdu: PduOf<'query_sm'>): Promise<QueryAnswer> {
  const row = await findByClientId(db, accountId, pdu.message_id)
  if (!row || !isFrom(row, pdu.source_addr)) return { status: ESME.RQUERYFAIL }
  return {
    status: 0,
    message_id: pdu.message_id,
    final_date: isFinal(row.status) ? formatAbsoluteTime(row.completedAt ?? row.updatedAt) : '',
    message_state: MESSAGE_STATES.indexOf(stateOf(row.status)),
    error_code: errorOf(row),
  }
}

/** One octet: the carrier's own number if it fits, else that of our reason. */
function errorOf({ status, receiptErr, errorCode }: MessageRow): number {
  const error = Number.parseInt(receiptErr ?? '', 10)
  if (error > 0 && error < 256) return error
  return isFinal(status) && errorCode !== null ? Number(clientErrs[errorCode]) : 0
}

/**
 * Answers a cancel_sm (SMPP 3.4 §4.9) with a command_status. Cancels one message by id, not all to a number. Test credentials cannot cancel
 * live messages.
 */
export async function cancel(
  context: Recording,
  { accountId, mode }: Pick<Admission, 'accountId' | 'mode'>,
  pdu: PduOf<'cancel_sm'>,
): Promise<number> {
  const row = await findByClientId(context.db, accountId, pdu.message_id)
  if (!row || !isFrom(row, pdu.source_addr)) return ESME.RCANCELFAIL
  if (mode === 'test' && !row.isTest) return ESME.RCANCELFAIL
  if ((await cancelMessage(context, accountId, row.id)) === null) return ESME.RCANCELFAIL
  await settlePending(context.db, [{ accountId, messageId: row.id }])
  return ESME.ROK
}

/** The message with a client's id, or the one made from that gathering. By primary keys. */
async function findByClientId(db: Db, accountId: string, text: string): Promise<MessageRow | null> {
  const id = parseClientId(text)
  if (id === null) return null
  const row = await findMessage(db, accountId, id)
  if (row) return row.direction === 'outbound' ? row : null
  const known = await findKey(db, accountId, gatheringOperation, showClientId(id))
  return known && findMessage(db, accountId, known.messageId)
}

/** If a source is given, it must be the message's (SMPP 3.4 §4.8.1). */
const isFrom = (row: MessageRow, source: string): boolean =>
  source === '' || source.replace(/^\+/, '') === row.ourNumber
