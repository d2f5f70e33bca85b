import {
  type ConcatenationMode,
  type CutOptions,
  cutSegments,
  type DefaultAlphabet,
  detectAddress,
  type FieldsInput,
  type SegmentPdu,
} from '@heliogram/smpp'
import type { PartOrder } from './faults.ts'

export interface ReplyManner {
  readonly mode: ConcatenationMode
  readonly alphabet: DefaultAlphabet
  readonly reference: number
  readonly order: PartOrder
  readonly copies: number
  readonly isPartMissing: boolean
}

/** The deliver_sm fields of a reply, repeated and ordered as they are sent. Null if it takes more than 255 parts. */
export function buildReply(
  reply: { from: string; to: string; text: string },
  { mode, alphabet, reference, order, copies, isPartMissing }: ReplyManner,
): FieldsInput<'deliver_sm'>[] | null {
  const segments = cutText(reply.text, { mode, alphabet, reference })
  if (segments === null) return null
  const [from, to] = [toAddress(reply.from), toAddress(reply.to)]
  const parts = segments.map((segment) => ({
    source_addr_ton: from.ton,
    source_addr_npi: from.npi,
    source_addr: from.addr,
    dest_addr_ton: to.ton,
    dest_addr_npi: to.npi,
    destination_addr: to.addr,
    ...segment,
  }))
  // A text of one part cannot lose or repeat a part: it would be another text.
  if (parts.length === 1) return parts
  if (isPartMissing) parts.pop()
  const sent = Array.from({ length: copies }, () => parts).flat()
  if (order === 'last_first') sent.reverse()
  return order === 'shuffled' ? shuffle(sent) : sent
}

/** Null if the text is too long for parts or a payload. */
function cutText(text: string, options: CutOptions): SegmentPdu[] | null {
  try {
    return cutSegments(text, options)
  } catch (error) {
    if (error instanceof RangeError) return null
    throw error
  }
}

/** Fisher-Yates. */
function shuffle<Item>(items: Item[]): Item[] {
  const left = [...items]
  return items.flatMap(() => left.splice(Math.floor(Math.random() * left.length), 1))
}

function toAddress(address: string): { ton: number; npi: number; addr: string } {
  return detectAddress(address) ?? { ton: 0, npi: 0, addr: address }
}
