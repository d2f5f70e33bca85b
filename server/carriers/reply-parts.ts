/** Parts of long replies: kept until the others are there, then joined to one reply. */
import { joinParts, type CodingOptions, type MessagePart } from '@heliogram/smpp'
import { inTransaction, type Db, type Tx } from '../db/db.ts'
import { isUnavailable } from '../db/failure.ts'
import { InOrder } from '../in-order.ts'
import { storeReply, type ReplyIn } from '../messages/reply.ts'
import type { Texts } from '../sealing/texts.ts'
import { untilDone } from '../sweeps.ts'
import type { Link } from './link.ts'
import type { ReceiveContext } from './receive.ts'
import { smppDefaults, type SmppSettings } from './settings.ts'

/** What of a carrier's settings tells how its octets are read. */
type Codings = Pick<SmppSettings, 'default_alphabet' | 'data_codings_in'>

// A part that a reply still misses a minute after the last one came is mostly lost; the person waits for an answer.
const partsWaitSeconds = 60
// How far back the same part of a text can be a redelivery.
const redeliveryMinutes = 10
// Octets of all parts of one reply: what one message_payload holds. 255 parts of that size would be a text of 16 million characters.
const replyOctetsMax = 65_536
// Late replies that are read at once.
const lateMax = 1000

/** How the carrier means its data_codings. */
export const codingsOf = ({ default_alphabet, data_codings_in }: Codings): CodingOptions => ({
  defaultAlphabet: default_alphabet,
  overrides: data_codings_in,
})

/** The parts of each text that are being stored, by process. */
const storing = new WeakMap<ReceiveContext, InOrder>()

/**
 * Keeps a part; with the last one the reply is whole and takes the place of its parts in the same transaction. Parts of one text that come
 * at once are kept in their order, on one connection: the third of a text must not fill a gap of the text that the first one ends. Those
 * behind one that could not be stored are not stored either.
 */
export function storePart(
  context: ReceiveContext,
  link: Link,
  reply: Omit<ReplyIn, 'text' | 'isPartial'>,
  part: MessagePart,
  hash: Buffer,
): Promise<void> {
  const { concatenation } = part
  if (!concatenation) return Promise.resolve()
  const { kind, reference, total, part: number } = concatenation
  const key = [link.receiptsId, reply.source, reply.destination, kind, reference, total]
  const texts = storing.get(context) ?? new InOrder()
  storing.set(context, texts)
  return texts.run(key.join(' '), () => storeNext(context, link, key, number, part, hash))
}

async function storeNext(
  context: ReceiveContext,
  link: Link,
  key: unknown[],
  number: number,
  part: MessagePart,
  hash: Buffer,
): Promise<void> {
  let kept = await keepPart(context, key, number, part, hash)
  if (kept === 'taken') {
    // The phone gave its next text the same reference, and the last one still misses a part: it goes as it is.
    await joinReply(context, link.settings, key, (tx) => isTaken(tx, context, key, number, part))
    kept = await keepPart(context, key, number, part, hash)
    if (kept === 'taken') throw new Error('the place of a part was taken twice')
  }
  if (kept === 'whole') await joinReply(context, link.settings, key, (tx) => isWhole(tx, key))
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

/** `taken`: nothing was stored, for the part of this number is another text's. */
function keepPart(
  context: ReceiveContext,
  key: unknown[],
  number: number,
  part: MessagePart,
  hash: Buffer,
): Promise<'whole' | 'open' | 'taken'> {
  return inTransaction(context.db, async (tx) => {
    await lockParts(tx, key)
    const [linkId] = key as [string]
    // Nothing is stored of a redelivery, but a whole whose join failed is joined.
    if (await isNewPart(tx, linkId, hash)) {
      const isStored = await insertPart(tx, context.texts, key, number, part)
      if (!isStored && (await isTaken(tx, context, key, number, part))) {
        // It comes again in a moment, as new as it is.
        await tx.query('delete from reply_hashes where link_id = $1 and hash = $2', [linkId, hash])
        return 'taken'
      }
    }
    return (await isWhole(tx, key)) ? 'whole' : 'open'
  })
}

/** Parts may come on two sessions at once: whoever is second must see the first, and what was seen must hold until the commit. */
async function lockParts(tx: Tx, key: unknown[]): Promise<void> {
  await tx.query(`select pg_advisory_xact_lock(hashtextextended($1, 0))`, [key.join(' ')])
}

/** Whether all parts are there. By primary key. */
async function isWhole(tx: Tx, key: unknown[]): Promise<boolean> {
  const { rows } = await tx.query<{ isWhole: boolean }>(
    `select count(*) >= $6 as "isWhole" from reply_parts
     where link_id = $1 and source = $2 and destination = $3 and kind = $4 and reference = $5 and total = $6`,
    key,
  )
  return rows[0]?.isWhole ?? false
}

/** Whether no part has come for long enough. By primary key. */
async function isQuiet(tx: Tx, key: unknown[]): Promise<boolean> {
  const { rowCount } = await tx.query(
    `select 1 from reply_parts
     where link_id = $1 and source = $2 and destination = $3 and kind = $4 and reference = $5 and total = $6
       and received_at >= now() - make_interval(secs => $7)
     limit 1`,
    [...key, partsWaitSeconds],
  )
  return rowCount === 0
}

/** Whether a part of this number is there that says something else. One row, by primary key. */
async function isTaken(
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
  if (!there) return false
  const bytes = there.isSealed ? openPart(context, there.bytes, placeOf(key, number)) : there.bytes
  return there.dataCoding !== part.data_coding || bytes === null || !part.body.equals(bytes)
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

/**
 * Makes a reply of the parts that are there, in one transaction with their removal, where `isDue` still says so in it: another process may
 * have joined them meanwhile, and those that are there now are of the next text.
 */
async function joinReply(
  context: ReceiveContext,
  settings: Codings,
  key: unknown[],
  isDue: (tx: Tx) => Promise<boolean>,
): Promise<void> {
  const [linkId, source, destination, , , total] = key as [string, string, string, string, number, number]
  const reply: ReplyIn = { linkId, source, destination, text: '', isPartial: false }
  await storeReply(context, reply, async (tx) => {
    await lockParts(tx, key)
    if (!(await isDue(tx))) return false
    const { rows } = await tx.query<PartRow>(
      `with gone as (
       delete from reply_parts
       where link_id = $1 and source = $2 and destination = $3 and kind = $4 and reference = $5 and total = $6
       returning *
       )
       select kind, reference, total, part, data_coding as "dataCoding", udh_length as "udhLength",
         locking_shift as "lockingShift", single_shift as "singleShift", bytes, is_sealed as "isSealed", parts
       from (
         select gone.*, count(*) over () as parts,
           sum(octet_length(bytes)) over (order by part) - octet_length(bytes) as octets_before
         from gone
       ) g
       where octets_before < $7
       order by part`,
      // What is sealed is longer by a third and a little; the exact limit is put to what is open.
      [...key, replyOctetsMax * 2],
    )
    if (rows.length === 0) return false
    const parts = rows.flatMap(
      (row) => readRow(row, (sealed) => openPart(context, sealed, placeOf(key, row.part))) ?? [],
    )
    const isCut = cutParts(parts)
    const joined = joinParts(parts, codingsOf(settings))
    reply.text = joined.text ?? `[${joined.octets.length} octets of binary data]`
    const there = rows[0]?.parts ?? 0
    reply.isPartial = isCut || parts.length < there || there < total
    return true
  })
}

/** Cuts off what is beyond the limit of a reply, in the order of its parts. True where that was anything. */
function cutParts(parts: MessagePart[]): boolean {
  let room = replyOctetsMax
  let isCut = false
  for (const part of parts) {
    if (part.body.length > room) {
      part.body = part.body.subarray(0, room)
      isCut = true
    }
    room -= part.body.length
  }
  return isCut
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
  /** How many there were, with those that are not read. */
  parts: number
}

/** A part that cannot be opened is as one that never came: the others are worth having. */
function openPart({ texts, log }: ReceiveContext, sealed: Buffer, place: string): Buffer | null {
  try {
    if (texts) return texts.openLoose(sealed, place)
  } catch (error) {
    log.warn({ reason: String(error) }, 'a text cannot be opened')
  }
  return null
}

function readRow(row: PartRow, open: (sealed: Buffer) => Buffer | null): MessagePart | null {
  const body = row.isSealed ? open(row.bytes) : row.bytes
  if (body === null) return null
  return {
    concatenation: { kind: row.kind, reference: row.reference, total: row.total, part: row.part },
    data_coding: row.dataCoding,
    udhLength: row.udhLength,
    shift: {
      ...(row.lockingShift !== null && { locking: row.lockingShift }),
      ...(row.singleShift !== null && { single: row.singleShift }),
    },
    body,
  }
}

/** A reply that waits for its missing parts. */
interface LateReply {
  linkId: string
  source: string
  destination: string
  kind: string
  reference: number
  total: number
  settings: Codings | null
}

/**
 * Delivers as partial what waited too long for its missing parts, also of links that are down or gone. One that cannot be stored, such as
 * for an account whose data key cannot be opened, stays for another turn and keeps the others from nothing.
 */
export async function joinLateParts(context: ReceiveContext): Promise<void> {
  const failures: string[] = []
  await untilDone(lateMax, async (limit) => {
    const late = await listLate(context.db, limit, failures.length)
    for (const { linkId, source, destination, kind, reference, total, settings } of late) {
      const key = [linkId, source, destination, kind, reference, total]
      try {
        await joinReply(context, settings ?? smppDefaults, key, (tx) => isQuiet(tx, key))
      } catch (error) {
        if (isUnavailable(error)) throw error
        failures.push(error instanceof Error ? error.message : 'no error')
      }
    }
    return late.length
  })
  const [reason] = failures
  if (reason !== undefined) context.log.warn({ count: failures.length, reason }, 'late parts could not be joined')
}

/** Replies of which no part has come for long enough. Index reply_parts_received_at, and the primary key for later parts. */
async function listLate(db: Db, limit: number, skip: number): Promise<LateReply[]> {
  const { rows } = await db.query<LateReply>(
    `select p.link_id as "linkId", p.source, p.destination, p.kind, p.reference, p.total, c.settings
     from (
       select distinct link_id, source, destination, kind, reference, total
       from reply_parts
       where received_at < now() - make_interval(secs => $1)
     ) p
     left join links l on l.id = p.link_id
     left join carriers c on c.id = l.carrier_id
     where not exists (
       select from reply_parts later
       where later.link_id = p.link_id and later.source = p.source and later.destination = p.destination and later.kind = p.kind
         and later.reference = p.reference and later.total = p.total and later.received_at >= now() - make_interval(secs => $1)
     )
     order by p.link_id, p.source, p.destination, p.kind, p.reference, p.total
     limit $2 offset $3`,
    [partsWaitSeconds, limit, skip],
  )
  return rows
}
