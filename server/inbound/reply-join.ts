/**
 * Joins the parts of long replies: with the last one, or when the others are overdue. If a second text begins under the reference of an incomplete
 * one, the owner of further parts is unknown: for a minute each is a partial reply of its own, in which STOP is obeyed and START is not. Texts of
 * SMPP clients are refused then (smpp-server/gather.ts).
 */
import { joinParts, octetsToKeep, type CodingOptions, type MessagePart } from '@heliogram/smpp'
import type { Tx } from '../ground/db/db.ts'
import { isUnavailable } from '../ground/db/failure.ts'
import { InOrder } from '../ground/base/in-order.ts'
import { storeReply, type ReplyIn } from './reply.ts'
import { untilDone } from '../ground/base/sweeps.ts'
import type { Link } from '../links/link.ts'
import type { ReceiveContext } from './context.ts'
import {
  isNewPart,
  isQuiet,
  isTaken,
  isWhole,
  keepPart,
  listLate,
  listParts,
  lockParts,
  takeParts,
  type TextKey,
} from './reply-parts.ts'
import { smppDefaults, type SmppSettings } from '../links/carrier-settings.ts'

type Codings = Pick<SmppSettings, 'default_alphabet' | 'data_codings_in'>

// Octets of all parts of one reply: what one message_payload holds. 255 parts of that size would be a text of 16 million characters.
const replyOctetsMax = 65_536
// Late replies of one read.
const lateMax = 1000

/** The carrier's meaning of data_codings. */
const codingsOf = ({ default_alphabet, data_codings_in }: Codings): CodingOptions => ({
  defaultAlphabet: default_alphabet,
  overrides: data_codings_in,
})

/** Running stores of each text's parts, by process. */
const storing = new WeakMap<ReceiveContext, InOrder>()

/**
 * Keeps a part; with the last one the whole reply replaces its parts in the same transaction. Concurrent parts of one text keep their order, on one
 * connection: the third of a text must not fill a gap of the text that the first one ends. Those behind one that could not be stored are not stored
 * either.
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
  const key: TextKey = [link.receiptsId, reply.source, reply.destination, kind, reference, total]
  const texts = storing.get(context) ?? new InOrder()
  storing.set(context, texts)
  return texts.run(key.join(' '), () => storeNext({ context, link, reply, key, number, part, hash }))
}

interface Arrival {
  context: ReceiveContext
  link: Link
  reply: Omit<ReplyIn, 'text' | 'isPartial'>
  key: TextKey
  number: number
  part: MessagePart
  hash: Buffer
}

async function storeNext(arrival: Arrival): Promise<void> {
  const { context, link, key, number, part, hash } = arrival
  let kept = await keepPart(context, key, number, part, hash)
  if (kept === 'taken') {
    // The phone reused the reference for its next text, and the last one is whole or incomplete for good: it is delivered as it is.
    await joinReply(context, link.settings, key, (tx) => isTaken(tx, context, key, number, part))
    kept = await keepPart(context, key, number, part, hash)
    if (kept === 'taken') throw new Error('the place of a part was taken twice')
  }
  if (kept === 'whole') await joinReply(context, link.settings, key, (tx) => isWhole(tx, key))
  if (kept === 'crossed') await storeApart(arrival)
}

/** Stores a part as a reply of its own, after the present ones. */
async function storeApart({ context, link, reply, key, part, hash }: Arrival): Promise<void> {
  for (const number of await listParts(context.db, key)) {
    context.log.warn({ link: link.id }, 'parts of two long replies have one reference')
    await joinReply(context, link.settings, key, () => Promise.resolve(true), number)
  }
  await storeReply(context, { ...reply, ...textOf([part], link.settings), isPartial: true }, async (tx) =>
    (await isNewPart(tx, link.receiptsId, hash)) ? 'doubtful' : 'none',
  )
}

/** The text of parts, and their octets if these are kept. */
export function textOf(parts: readonly MessagePart[], settings: Codings): Pick<ReplyIn, 'text' | 'octets'> {
  const joined = joinParts(parts, codingsOf(settings))
  return {
    text: joined.text ?? `[${joined.octets.length} octets of binary data]`,
    octets: octetsToKeep(joined),
  }
}

/**
 * Makes a reply of the present parts, and deletes them, in one transaction, if `isDue` still holds in it: another process may have joined them, and
 * the present ones belong to the next text. `only`: this part alone.
 */
async function joinReply(
  context: ReceiveContext,
  settings: Codings,
  key: TextKey,
  isDue: (tx: Tx) => Promise<boolean>,
  only?: number,
): Promise<void> {
  const [linkId, source, destination, , , total] = key
  const reply: ReplyIn = { linkId, source, destination, text: '', isPartial: false }
  await storeReply(context, reply, async (tx) => {
    await lockParts(tx, key)
    if (!(await isDue(tx))) return 'none'
    const { parts, there } = await takeParts(tx, context, key, replyOctetsMax, only)
    if (there === 0) return 'none'
    const isCut = cutParts(parts)
    Object.assign(reply, textOf(parts, settings))
    reply.isPartial = isCut || parts.length < there || there < total
    return only === undefined ? 'new' : 'doubtful'
  })
}

/** Cuts off what exceeds the limit of a reply, in the order of its parts. True if it cut anything. */
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

/**
 * Delivers incomplete replies as partial, also of links that are down or gone. If one cannot be stored, such as for an account whose data key cannot
 * be opened, it stays and does not block the others.
 */
export async function joinLateParts(context: ReceiveContext, isOver = (): boolean => false): Promise<void> {
  const failures: string[] = []
  await untilDone(isOver, lateMax, async (limit) => {
    const late = await listLate(context.db, limit, failures.length)
    for (const { key, settings } of late)
      try {
        await joinReply(context, settings ?? smppDefaults, key, (tx) => isQuiet(tx, key))
      } catch (error) {
        if (isUnavailable(error)) throw error
        failures.push(error instanceof Error ? error.message : 'no error')
      }
    return late.length
  })
  const [reason] = failures
  if (reason !== undefined) context.log.warn({ count: failures.length, reason }, 'late parts could not be joined')
}
