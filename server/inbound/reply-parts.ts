/** Rows of parts of long replies, until their text is complete. */
import type { MessagePart } from '@heliogram/smpp'
import { inTransaction, type Db, type Tx } from '../ground/db/db.ts'
import type { Texts } from '../ground/sealing/texts.ts'
import type { ReceiveContext } from './context.ts'
import type { SmppSettings } from '../links/carrier-settings.ts'

/** Distinguishes texts, as the primary key does. */
export type TextKey = readonly [
  linkId: string,
  source: string,
  destination: string,
  kind: 'udh8' | 'udh16' | 'sar',
  reference: number,
  total: number,
]

// A part still missing a minute after the last one is mostly lost; the person waits for an answer.
const partsWaitSeconds = 60
// How far back the same part of a text can be a redelivery.
const redeliveryMinutes = 10

/**
 * Keeps a part; returns whether its text is whole. Stores nothing if its place has another text's part. `taken`: that text is over, for it is whole,
 * or has waited long enough. `crossed`: it is incomplete, and for a minute the owner of a part is unknown.
 */
export function keepPart(
  context: ReceiveContext,
  key: TextKey,
  number: number,
  part: MessagePart,
  hash: Buffer,
): Promise<'whole' | 'open' | 'taken' | 'crossed'> {
  return inTransaction(context.db, async (tx) => {
    await lockParts(tx, key)
    const [linkId] = key
    const crossing = context.vault.mac('replies', `crossed\0${key.join('\0')}`)
    if (await isNoted(tx, linkId, crossing)) return 'crossed'
    // A redelivery is not stored, but completes a join that failed.
    if (await isNewPart(tx, linkId, hash)) {
      const isStored = await insertPart(tx, context.texts, key, number, part)
      if (!isStored && (await isTaken(tx, context, key, number, part))) {
        // It comes again in a moment, and still counts as new.
        await tx.query('delete from reply_hashes where link_id = $1 and hash = $2', [linkId, hash])
        if ((await isWhole(tx, key)) || (await isQuiet(tx, key))) return 'taken'
        await isNewPart(tx, linkId, crossing)
        return 'crossed'
      }
    }
    return (await isWhole(tx, key)) ? 'whole' : 'open'
  })
}

/** Whether a crossing was recorded within the wait for parts. One row, by primary key. */
async function isNoted(tx: Tx, linkId: string, crossing: Buffer): Promise<boolean> {
  const { rowCount } = await tx.query(
    `select 1 from reply_hashes where link_id = $1 and hash = $2 and received_at > now() - make_interval(secs => $3)`,
    [linkId, crossing, partsWaitSeconds],
  )
  return rowCount === 1
}

/** False for a repeated part: it has a number, so the same twice is a redelivery on any session. One row, by primary key. */
export async function isNewPart(tx: Tx, linkId: string, hash: Buffer): Promise<boolean> {
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

/** Parts may come on two sessions at once: the second must see the first, until the commit. */
export async function lockParts(tx: Tx, key: TextKey): Promise<void> {
  await tx.query(`select pg_advisory_xact_lock(hashtextextended($1, 0))`, [key.join(' ')])
}

/** By primary key. */
export async function isWhole(tx: Tx, key: TextKey): Promise<boolean> {
  const { rows } = await tx.query<{ isWhole: boolean }>(
    `select count(*) >= $6 as "isWhole" from reply_parts
     where link_id = $1 and source = $2 and destination = $3 and kind = $4 and reference = $5 and total = $6`,
    [...key],
  )
  return rows[0]?.isWhole ?? false
}

/** Whether no part has come for long enough. By primary key. */
export async function isQuiet(tx: Tx, key: TextKey): Promise<boolean> {
  const { rowCount } = await tx.query(
    `select 1 from reply_parts
     where link_id = $1 and source = $2 and destination = $3 and kind = $4 and reference = $5 and total = $6
       and received_at >= now() - make_interval(secs => $7)
     limit 1`,
    [...key, partsWaitSeconds],
  )
  return rowCount === 0
}

/** Whether another text has a part of this number. One row, by primary key. */
export async function isTaken(
  tx: Tx,
  context: ReceiveContext,
  key: TextKey,
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

async function insertPart(
  tx: Tx,
  texts: Texts | undefined,
  key: TextKey,
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

const placeOf = (key: TextKey, number: number): string => `reply_parts.bytes|${key.join('|')}|${number}`

/** A part that cannot be opened counts as missing: the others are worth having. */
function openPart({ texts, log }: ReceiveContext, sealed: Buffer, place: string): Buffer | null {
  try {
    if (texts) return texts.openLoose(sealed, place)
  } catch (error) {
    log.warn({ reason: String(error) }, 'a text cannot be decrypted')
  }
  return null
}

/** By primary key. */
export async function listParts(db: Db, key: TextKey): Promise<number[]> {
  const { rows } = await db.query<{ part: number }>(
    `select part from reply_parts
     where link_id = $1 and source = $2 and destination = $3 and kind = $4 and reference = $5 and total = $6
     order by part`,
    [...key],
  )
  return rows.map(({ part }) => part)
}

/**
 * Deletes the parts of a text, or the named one. Returns the readable ones in order, up to at least so many octets, and the number deleted. By
 * primary key.
 */
export async function takeParts(
  tx: Tx,
  context: ReceiveContext,
  key: TextKey,
  octetsMax: number,
  only: number | null = null,
): Promise<{ parts: MessagePart[]; there: number }> {
  const { rows } = await tx.query<PartRow>(
    `with gone as (
       delete from reply_parts
       where link_id = $1 and source = $2 and destination = $3 and kind = $4 and reference = $5 and total = $6
         and ($8::int is null or part = $8)
       returning *
     )
     select part, data_coding as "dataCoding", udh_length as "udhLength", locking_shift as "lockingShift",
       single_shift as "singleShift", bytes, is_sealed as "isSealed", parts
     from (
       select gone.*, count(*) over () as parts,
         sum(octet_length(bytes)) over (order by part) - octet_length(bytes) as octets_before
       from gone
     ) g
     where octets_before < $7
     order by part`,
    // Sealing adds a third and a little; the exact limit applies to opened parts.
    [...key, octetsMax * 2, only],
  )
  return { parts: rows.flatMap((row) => readRow(context, key, row) ?? []), there: rows[0]?.parts ?? 0 }
}

interface PartRow {
  part: number
  dataCoding: number
  udhLength: number
  lockingShift: number | null
  singleShift: number | null
  bytes: Buffer
  isSealed: boolean
  /** Their number, including those not read. */
  parts: number
}

function readRow(context: ReceiveContext, key: TextKey, row: PartRow): MessagePart | null {
  const body = row.isSealed ? openPart(context, row.bytes, placeOf(key, row.part)) : row.bytes
  if (body === null) return null
  const [, , , kind, reference, total] = key
  return {
    concatenation: { kind, reference, total, part: row.part },
    data_coding: row.dataCoding,
    udhLength: row.udhLength,
    shift: {
      ...(row.lockingShift !== null && { locking: row.lockingShift }),
      ...(row.singleShift !== null && { single: row.singleShift }),
    },
    body,
  }
}

/** A text with missing parts, and the coding of its link; null if the link is gone. */
interface LateText {
  key: TextKey
  settings: Pick<SmppSettings, 'default_alphabet' | 'data_codings_in'> | null
}

/** When the oldest part has waited for long enough. Index reply_parts_received_at. */
export const partsDue = `select min(received_at) + make_interval(secs => ${partsWaitSeconds}) from reply_parts`

/** Texts without a new part for long enough. Index reply_parts_received_at, and the primary key for later parts. */
export async function listLate(db: Db, limit: number, skip: number): Promise<LateText[]> {
  const { rows } = await db.query<LateText>(
    `select jsonb_build_array(p.link_id, p.source, p.destination, p.kind, p.reference, p.total) as key, c.settings
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
