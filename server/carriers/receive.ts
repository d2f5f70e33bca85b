/** Receive: what a carrier delivers. It is on disk before the carrier gets its answer, and what could not be stored is asked for again. */
import { createHash } from 'node:crypto'
import {
  ESME,
  joinParts,
  normaliseId,
  parseReceipt,
  readPart,
  type CodingOptions,
  type MessagePart,
  type MessageRequest,
  type Receipt,
  type Respond,
} from '@heliogram/smpp'
import type { Log } from '../db/log.ts'
import { inTransaction, type Db, type Tx } from '../db/db.ts'
import { isUnavailable } from '../db/failure.ts'
import type { Outbox, Subscriptions } from '../events.ts'
import type { Meter } from '../metrics/meter.ts'
import type { Ledger } from '../messages/ledger.ts'
import { statusOfReceipt } from '../messages/apply.ts'
import { storeReply, type ReplyIn } from '../messages/reply.ts'
import type { Texts } from '../sealing/texts.ts'
import type { Vault } from '../sealing/vault.ts'
import type { Link } from './link.ts'
import { readNumberIn } from './number-form.ts'
import type { Delivery, DeliverySession, Redeliveries } from './redelivery.ts'
import { smppDefaults, type SmppSettings } from './settings.ts'

export interface ReceiveContext {
  db: Db
  vault: Vault
  texts?: Texts
  log: Log
  ledger: Ledger
  outbox: Outbox
  subscriptions: Subscriptions
  meter?: Meter
  redeliveries: Redeliveries
  wake: () => void
}

/** What of a carrier's settings tells how its octets are read. */
type Codings = Pick<SmppSettings, 'default_alphabet' | 'data_codings_in'>

type Deliver = Extract<MessageRequest, { command: 'deliver_sm' | 'data_sm' }>

// A part that a reply still misses after a minute is mostly lost; the person waits for an answer.
const partsWaitSeconds = 60
// How far back the same part of a text can be a redelivery.
const redeliveryMinutes = 10

/** Stores a receipt or reply and answers it; ROK only after the commit, "try later" when it could not be stored (rule: never a permanent error). */
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
      if (!isUnavailable(error)) context.log.error({ link: link.id, error }, 'a delivery could not be stored')
      respond(ESME.RX_T_APPN)
    },
  )
}

function storeDelivery(context: ReceiveContext, link: Link, pdu: Deliver, session: DeliverySession): Promise<unknown> {
  const receipt = parseReceipt(pdu)
  if (receipt)
    return context.ledger.receipt({
      linkId: link.receiptsId,
      rawId: receipt.id,
      matchId: normaliseId(receipt.id, link.settings.message_id_form),
      state: stateOf(receipt),
      stat: receipt.stat,
      err: receipt.err,
      networkError: receipt.networkErrorCode && `${receipt.networkErrorCode.network}:${receipt.networkErrorCode.code}`,
      doneDate: receipt.doneDate ?? '',
      source: readNumberIn(pdu.source_addr, pdu.source_addr_ton, link.settings.country),
      destination: readNumberIn(pdu.destination_addr, pdu.dest_addr_ton, link.settings.country),
      submitDate: receipt.submitDate,
      reference: pdu.tlvs?.user_message_reference ?? null,
    })
  return storeText(context, link, pdu, session)
}

/** A failure as an intermediate word (SMPP 3.4 §5.2.12) means that the carrier tries again; "delivered" cannot be taken back. */
function stateOf({ state, isIntermediate }: Receipt): string {
  const status = statusOfReceipt(state)
  return isIntermediate && status !== null && status !== 'delivered' ? 'enroute' : state
}

function storeText(context: ReceiveContext, link: Link, pdu: Deliver, session: DeliverySession): Promise<unknown> {
  const part = readPart(pdu)
  const reply = {
    linkId: link.receiptsId,
    source: readNumberIn(pdu.source_addr, pdu.source_addr_ton, link.settings.country),
    destination: readNumberIn(pdu.destination_addr, pdu.dest_addr_ton, link.settings.country),
  }
  // Ids of the carrier and of the phone, where they are given: they stay when it is delivered again.
  const { receipted_message_id: id = '', user_message_reference: reference = '' } = pdu.tlvs ?? {}
  const hash = createHash('sha256')
    .update(`${id}\0${reference}\0`)
    .update(`${reply.source}\0${reply.destination}\0${pdu.esm_class}\0${pdu.data_coding}\0`)
    .update(JSON.stringify(part.concatenation))
    .update(part.body)
    .digest()
  if (part.concatenation) return storePart(context, link, reply, part, hash)
  const text = joinParts([part], codingsOf(link.settings)).text ?? `[${part.body.length} octets of binary data]`
  const delivery: Delivery = {
    linkId: link.receiptsId,
    hash,
    isNamed: id !== '',
    sequence: pdu.sequence_number,
    session,
    enquireTimeoutMs: link.settings.enquire_timeout_seconds * 1000,
  }
  return context.redeliveries.storeOnce(delivery, (isFirst) =>
    storeReply(context, { ...reply, text, isPartial: false }, isFirst),
  )
}

/** False for a part that came before: it has a number, so that the same twice is a redelivery on any session. One row, by primary key. */
async function isNewPart(tx: Tx, linkId: string, hash: Buffer): Promise<boolean> {
  const { rows } = await tx.query<{ isNew: boolean }>(
    `with earlier as (
       select received_at from reply_hashes where link_id = $1 and hash = $2
     ), noted as (
       insert into reply_hashes (link_id, hash) values ($1, $2)
       on conflict (link_id, hash) do update set received_at = now()
     )
     select not exists (select 1 from earlier where received_at > now() - make_interval(mins => $3)) as "isNew"`,
    [linkId, hash, redeliveryMinutes],
  )
  return rows[0]?.isNew ?? true
}

/** Keeps a part; with the last one the reply is whole and takes the place of its parts in the same transaction. */
async function storePart(
  context: ReceiveContext,
  link: Link,
  reply: Omit<ReplyIn, 'text' | 'isPartial'>,
  part: MessagePart,
  hash: Buffer,
): Promise<void> {
  const { concatenation } = part
  if (!concatenation) return
  const { kind, reference, total, part: number } = concatenation
  const key = [link.receiptsId, reply.source, reply.destination, kind, reference, total]
  let kept = await keepPart(context, key, number, part, hash)
  if (kept === 'taken') {
    // The phone gave its next text the same reference, and the last one still misses a part: it goes as it is.
    await joinReply(context, link.settings, key, true)
    kept = await keepPart(context, key, number, part, hash)
    if (kept === 'taken') throw new Error('the place of a part was taken twice')
  }
  if (kept === 'whole') await joinReply(context, link.settings, key, false)
}

/** `taken`: nothing was stored, for the part of this number is another text's. */
function keepPart(
  context: ReceiveContext,
  key: unknown[],
  number: number,
  part: MessagePart,
  hash: Buffer,
): Promise<'whole' | 'open' | 'taken'> {
  return inTransaction(context.db, async (tx) => {
    // Parts may come on two sessions at once: whoever is second must see the first.
    await tx.query(`select pg_advisory_xact_lock(hashtextextended($1, 0))`, [key.join(' ')])
    const [linkId, total] = [key[0], key[5]] as [string, number]
    // Nothing is stored of a redelivery, but a whole whose join failed is joined.
    if (await isNewPart(tx, linkId, hash)) {
      const isStored = await insertPart(tx, context.texts, key, number, part)
      if (!isStored && !(await isSamePart(tx, context, key, number, part))) {
        // It comes again in a moment, as new as it is.
        await tx.query('delete from reply_hashes where link_id = $1 and hash = $2', [linkId, hash])
        return 'taken'
      }
    }
    const { rows } = await tx.query<{ parts: number }>(
      `select count(*) as parts from reply_parts
       where link_id = $1 and source = $2 and destination = $3 and kind = $4 and reference = $5 and total = $6`,
      key,
    )
    return (rows[0]?.parts ?? 0) >= total ? 'whole' : 'open'
  })
}

/** Whether the part that has this number says the same. One row, by primary key. */
async function isSamePart(
  tx: Tx,
  context: ReceiveContext,
  key: unknown[],
  number: number,
  part: MessagePart,
): Promise<boolean> {
  const { rows } = await tx.query<{ bytes: Buffer; isSealed: boolean; dataCoding: number }>(
    `select bytes, is_sealed as "isSealed", data_coding as "dataCoding" from reply_parts
     where link_id = $1 and source = $2 and destination = $3 and kind = $4 and reference = $5 and total = $6 and part = $7`,
    [...key, number],
  )
  const [there] = rows
  if (!there || there.dataCoding !== part.data_coding) return false
  return part.body.equals(there.isSealed ? openPart(context, there.bytes, placeOf(key, number)) : there.bytes)
}

/** False where the number is taken. */
async function insertPart(
  tx: Tx,
  texts: Texts | undefined,
  key: unknown[],
  number: number,
  part: MessagePart,
): Promise<boolean> {
  const sealed = texts?.isSealing ? texts.sealLoose(part.body, placeOf(key, number)) : null
  const { rowCount } = await tx.query(
    `insert into reply_parts (link_id, source, destination, kind, reference, total, part, data_coding, udh_length,
       locking_shift, single_shift, bytes, is_sealed)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
     on conflict do nothing`,
    [
      ...key,
      number,
      part.data_coding,
      part.udhLength,
      part.shift.locking ?? null,
      part.shift.single ?? null,
      sealed ?? part.body,
      sealed !== null,
    ],
  )
  return rowCount === 1
}

const placeOf = (key: unknown[], number: number): string => `reply_parts.bytes|${key.join('|')}|${number}`

/** Makes a reply of the parts that are there, in one transaction with their removal. */
async function joinReply(
  context: ReceiveContext,
  settings: Codings,
  key: unknown[],
  isPartial: boolean,
): Promise<void> {
  const [linkId, source, destination, , , total] = key as [string, string, string, string, number, number]
  const reply: ReplyIn = { linkId, source, destination, text: '', isPartial }
  await storeReply(context, reply, async (tx) => {
    const { rows } = await tx.query<PartRow>(
      `delete from reply_parts
       where link_id = $1 and source = $2 and destination = $3 and kind = $4 and reference = $5 and total = $6
       returning kind, reference, total, part, data_coding as "dataCoding", udh_length as "udhLength",
         locking_shift as "lockingShift", single_shift as "singleShift", bytes, is_sealed as "isSealed"`,
      key,
    )
    // Another process joined them.
    if (rows.length === 0) return false
    const joined = joinParts(
      rows.map((row) => readRow(row, (sealed) => openPart(context, sealed, placeOf(key, row.part)))),
      codingsOf(settings),
    )
    reply.text = joined.text ?? `[${joined.octets.length} octets of binary data]`
    reply.isPartial = rows.length < total
    return true
  })
}

interface PartRow {
  kind: 'udh8' | 'udh16' | 'sar'
  reference: number
  total: number
  part: number
  dataCoding: number
  udhLength: number
  lockingShift: number | null
  singleShift: number | null
  bytes: Buffer
  isSealed: boolean
}

/** A part that cannot be opened is empty: the others are worth having. */
function openPart({ texts, log }: ReceiveContext, sealed: Buffer, place: string): Buffer {
  try {
    if (texts) return texts.openLoose(sealed, place)
  } catch (error) {
    log.warn({ reason: String(error) }, 'a text cannot be opened')
  }
  return Buffer.alloc(0)
}

function readRow(row: PartRow, open: (sealed: Buffer) => Buffer): MessagePart {
  return {
    concatenation: { kind: row.kind, reference: row.reference, total: row.total, part: row.part },
    data_coding: row.dataCoding,
    udhLength: row.udhLength,
    shift: {
      ...(row.lockingShift !== null && { locking: row.lockingShift }),
      ...(row.singleShift !== null && { single: row.singleShift }),
    },
    body: row.isSealed ? open(row.bytes) : row.bytes,
  }
}

/** How the carrier means its data_codings. */
const codingsOf = ({ default_alphabet, data_codings_in }: Codings): CodingOptions => ({
  defaultAlphabet: default_alphabet,
  overrides: data_codings_in,
})

/** Delivers as partial what waited too long for its missing parts, also of links that are down or gone. Index reply_parts_received_at. */
export async function joinLateParts(context: ReceiveContext): Promise<void> {
  const { rows } = await context.db.query<{
    linkId: string
    source: string
    destination: string
    kind: string
    reference: number
    total: number
    settings: Codings | null
  }>(
    `select distinct p.link_id as "linkId", p.source, p.destination, p.kind, p.reference, p.total, c.settings
     from reply_parts p
     left join links l on l.id = p.link_id
     left join carriers c on c.id = l.carrier_id
     where p.received_at < now() - make_interval(secs => $1)
     limit 1000`,
    [partsWaitSeconds],
  )
  for (const { linkId, source, destination, kind, reference, total, settings } of rows)
    await joinReply(context, settings ?? smppDefaults, [linkId, source, destination, kind, reference, total], true)
}
