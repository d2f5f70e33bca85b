/** Receive: what a carrier delivers. It is on disk before the carrier gets its answer, and what could not be stored is asked for again. */
import type { ReceiveContext } from './context.ts'
import { createHash } from 'node:crypto'
import {
  ESME,
  normaliseId,
  parseReceipt,
  readPart,
  type MessageRequest,
  type Receipt,
  type Respond,
} from '@heliogram/smpp'
import { isUnavailable } from '../ground/db/failure.ts'
import type { ReceiptIn } from '../ledger/receipt.ts'
import { statusOfReceipt } from '../ledger/apply.ts'
import { storeReply } from './reply.ts'
import type { Link } from '../links/link.ts'
import { readNumberIn, readPersonIn } from '../links/number-form.ts'
import { Unanswerable, type Delivery } from './redelivery.ts'
import type { DeliverySession } from '../links/carrier-link.ts'
import { personOctets } from './redelivery-notes.ts'
import { storePart, textOf } from './reply-join.ts'

/** This process was frozen: what waited in its sockets the carrier may have given to another meanwhile, which has stored it. */
class Frozen extends Error {}

type Deliver = Extract<MessageRequest, { command: 'deliver_sm' | 'data_sm' }>

/** Stores a receipt or reply and answers it; ROK only after the commit, "try later" when it could not be stored (rule: never a permanent error), or may be by now. */
export function receive(
  context: ReceiveContext,
  link: Link,
  pdu: MessageRequest,
  respond: Respond,
  session: DeliverySession,
): void {
  if (pdu.command !== 'deliver_sm' && pdu.command !== 'data_sm') return respond(ESME.RINVCMDID)
  storeDelivery(context, link, pdu, session).then(
    () => respond(ESME.ROK),
    (error: unknown) => {
      if (!isUnavailable(error) && !(error instanceof Frozen) && !(error instanceof Unanswerable))
        context.log.error({ link: link.id, error }, 'a delivery could not be stored')
      respond(ESME.RX_T_APPN)
    },
  )
}

function storeDelivery(context: ReceiveContext, link: Link, pdu: Deliver, session: DeliverySession): Promise<unknown> {
  const receipt = parseReceipt(pdu)
  return receipt ? storeReceipt(context, link, pdu, receipt) : storeText(context, link, pdu, session)
}

/** The word that counts, then the other, where a receipt has two last words. */
async function storeReceipt(context: ReceiveContext, link: Link, pdu: Deliver, receipt: Receipt): Promise<void> {
  // Ours has two octets; one of four is another's, and must fit a signed column all the same.
  const reference = pdu.tlvs?.user_message_reference
  const received: ReceiptIn = {
    linkId: link.receiptsId,
    rawId: receipt.id,
    matchId: normaliseId(receipt.id, link.settings.message_id_form),
    state: stateOf(receipt),
    stat: receipt.stat,
    err: receipt.err,
    networkError: receipt.networkErrorCode && `${receipt.networkErrorCode.network}:${receipt.networkErrorCode.code}`,
    doneDate: receipt.doneDate ?? '',
    source: readPersonIn(pdu.source_addr, pdu.source_addr_ton, link.settings.country),
    destination: readNumberIn(pdu.destination_addr, pdu.dest_addr_ton, link.settings.country),
    submitDate: receipt.submitDate,
    reference: reference === undefined ? null : reference | 0,
    parts: link.settings.one_receipt ? 0 : receipt.parts,
  }
  await context.ledger.receipt(received)
  const { contradiction } = receipt
  if (contradiction && !receipt.isIntermediate)
    await context.ledger.receipt({ ...received, ...contradiction, contradicts: receipt.stat })
}

/** A failure as an intermediate word (SMPP 3.4 §5.2.12) means that the carrier tries again; "delivered" cannot be taken back. */
function stateOf({ state, isIntermediate }: Receipt): string {
  const status = statusOfReceipt(state)
  return isIntermediate && status !== null && status !== 'delivered' ? 'enroute' : state
}

async function storeText(
  context: ReceiveContext,
  link: Link,
  pdu: Deliver,
  session: DeliverySession,
): Promise<unknown> {
  // Receipts count once however often they come.
  if (context.isFresh?.() === false) throw new Frozen()
  const part = readPart(pdu)
  const reply = {
    linkId: link.receiptsId,
    source: readPersonIn(pdu.source_addr, pdu.source_addr_ton, link.settings.country),
    destination: readNumberIn(pdu.destination_addr, pdu.dest_addr_ton, link.settings.country),
  }
  // Ids of the carrier and of the phone, where they are given: they stay when it is delivered again.
  const { receipted_message_id: id = '', user_message_reference: reference = '' } = pdu.tlvs ?? {}
  const said = createHash('sha256')
    .update(`${id}\0${reference}\0`)
    .update(`${reply.source}\0${reply.destination}\0${pdu.esm_class}\0${pdu.data_coding}\0`)
    .update(JSON.stringify(part.concatenation))
    .update(part.body)
    .digest()
  const person = context.vault.mac('replies', `${reply.source}\0${reply.destination}`).subarray(0, personOctets)
  const hash = Buffer.concat([person, said])
  if (part.concatenation && part.concatenation.total > 1) return storePart(context, link, reply, part, hash)
  const delivery: Delivery = {
    linkId: link.receiptsId,
    hash,
    isNamed: id !== '',
    sequence: pdu.sequence_number,
    session,
  }
  return context.redeliveries.storeOnce(context.db, delivery, (comingOf) =>
    storeReply(context, { ...reply, ...textOf([part], link.settings), isPartial: false }, comingOf),
  )
}
