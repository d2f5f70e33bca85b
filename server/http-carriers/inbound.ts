/** Stores receipts and replies that HTTP carriers post, as for SMPP sessions, before the carrier gets its answer. */
import { createHash } from 'node:crypto'
import { now } from '../ground/db/clock.ts'
import type { Db, Tx } from '../ground/db/db.ts'
import { currentNumber } from '../ground/numbers/number.ts'
import { storeReply, type ReplyIn } from '../inbound/reply.ts'
import type { ReceiveContext } from '../inbound/context.ts'
import type { Receipt, Reply } from './adapter.ts'
import { readReference, type Reference } from './reference.ts'

/** Replies over HTTP have their own ids. */
export type HttpReceiveContext = Omit<ReceiveContext, 'redeliveries' | 'isFresh'>

/** Characters of an id, as an index permits; real ids, words and times are shorter. */
export const idMax = 255
const wordMax = 64
const numberMax = 32
// This process does not own the intent of a late receipt.
const nobody = '00000000-0000-0000-0000-000000000000'

/** Stores a receipt; resolves after the commit. If the carrier's id is unknown, our reference settles the try first, as a late answer would. */
export async function storeReceipt(
  context: HttpReceiveContext,
  linkId: string,
  receipt: Receipt,
  isByPart: boolean,
): Promise<void> {
  if (receipt.id.length > idMax) return
  const reference = readReference(receipt.reference)
  // A part's receipt does not name its segment.
  if (reference && !(isByPart && reference.segments > 1)) await adoptTry(context, linkId, reference, receipt.id)
  await context.ledger.receipt({
    linkId,
    rawId: receipt.id,
    matchId: await idOf(context.db, linkId, receipt),
    state: receipt.state,
    stat: receipt.stat.slice(0, wordMax),
    err: receipt.err?.slice(0, wordMax) ?? null,
    networkError: null,
    doneDate: receipt.doneDate.slice(0, wordMax),
  })
}

/** The message's known id: the carrier's, or our reference if the answer to the send had none. */
async function idOf(db: Db, linkId: string, { id, reference }: Receipt): Promise<string> {
  if (reference === null || reference === id || (await isKnown(db, linkId, id))) return id
  return (await isKnown(db, linkId, reference)) ? reference : id
}

/** A receipt proves that the carrier has the message, so its try is accepted even if the answer was lost. */
async function adoptTry(
  { db, ledger }: HttpReceiveContext,
  linkId: string,
  reference: Reference,
  carrierMessageId: string,
): Promise<void> {
  if (await isKnown(db, linkId, carrierMessageId)) return
  if (!(await isTry(db, reference.accountId, reference.messageId, linkId, reference.try))) return
  await ledger.answer({
    nodeId: nobody,
    accountId: reference.accountId,
    messageId: reference.messageId,
    segment: 1,
    segments: 1,
    try: reference.try,
    linkId,
    state: 'accepted',
    carrierMessageId,
    commandStatus: null,
    intentAt: now(),
    move: { to: 'sent', retryAfterMs: null, errorCode: null, errorRaw: null },
    isLate: true,
  })
}

/** One row, by primary key. */
async function isKnown(db: Db, linkId: string, id: string): Promise<boolean> {
  const { rowCount } = await db.query(`select 1 from carrier_ids where link_id = $1 and carrier_message_id = $2`, [
    linkId,
    id,
  ])
  return rowCount === 1
}

/**
 * Whether the message was tried on this link with an open outcome: no answer yet, or an unknown one. By primary keys; of the intents by their few
 * rows. A segment sent straight from accept has no intent: its own row names the link.
 */
async function isTry(db: Db, accountId: string, messageId: string, linkId: string, ofTry: number): Promise<boolean> {
  const { rowCount } = await db.query(
    `select 1
     from submissions
     where account_id = $1 and message_id = $2 and segment = 1 and try = $4 and link_id = $3 and state = 'unknown'
     union all
     select 1
     from intents
     where account_id = $1 and message_id = $2 and segment = 1 and try = $4 and link_id = $3
     union all
     select 1
     from messages
     where account_id = $1 and id = $2 and attempts = $4 and link_id = $3 and status = 'sending' and node_id is not null`,
    [accountId, messageId, linkId, ofTry],
  )
  return (rowCount ?? 0) > 0
}

/**
 * Stores a reply; resolves after the commit. A reply is a repeat if its id came within a day, or, without an id, if an equal one came within ten
 * minutes and the carrier has no answer to it. Returns the hash of a reply without an id, kept until its answer is written; null if it has an id.
 */
export async function storeHttpReply(
  context: HttpReceiveContext,
  linkId: string,
  reply: Reply,
): Promise<Buffer | null> {
  const { id, text, octets = null, isPartial } = reply
  const row: ReplyIn = {
    linkId,
    source: currentNumber(reply.from.slice(0, numberMax)),
    destination: reply.to.slice(0, numberMax),
    text,
    octets,
    isPartial,
  }
  const said = id === null ? `http\0${row.source}\0${row.destination}\0${text}` : `http ${id}`
  const hash = createHash('sha256').update(said).digest()
  await storeReply(context, row, async (tx) => ((await isFirst(tx, linkId, hash, id !== null)) ? 'new' : 'repeat'))
  return id === null ? hash : null
}

/** False if an equal reply was stored before. One row, by primary key. */
async function isFirst(tx: Tx, linkId: string, hash: Buffer, hasId: boolean): Promise<boolean> {
  const { rowCount } = await tx.query(
    `insert into reply_hashes as h (link_id, hash) values ($1, $2)
     on conflict (link_id, hash) do update set received_at = now()
       where not $3 and h.received_at < now() - interval '10 minutes'`,
    [linkId, hash, hasId],
  )
  return rowCount === 1
}

/** Deletes the hashes of replies without an id: their carrier has our answer, so an equal one is from the person. By primary key. */
export async function forgetAnswered(db: Db, linkId: string, hashes: readonly Buffer[]): Promise<void> {
  if (hashes.length > 0)
    await db.query(`delete from reply_hashes where link_id = $1 and hash = any ($2)`, [linkId, hashes])
}

/** The link that owns a carrier's receipts and replies; an HTTP carrier has one. */
export async function findLinkOf(db: Db, carrierId: string): Promise<string | null> {
  const { rows } = await db.query<{ id: string }>(
    `select id from links where carrier_id = $1 order by position limit 1`,
    [carrierId],
  )
  return rows[0]?.id ?? null
}
