import { type DefaultAlphabet, joinParts, readPart, type TextPdu } from '@heliogram/smpp'
import type { Delivery } from './mailbox.ts'

/** One submit as it came, for tests that must account for each. */
export interface LedgerEntry {
  readonly source: string
  readonly destination: string
  /** Of this submit alone; octets that are no text as hexadecimal. */
  readonly text: string
  /** 1 for a message of one segment. */
  readonly part: number
  readonly at: Date
  /** What it was answered, or would have been (`ROK`, `RTHROTTLED`, `0x00000400`), or what came instead where it was not taken (`drop`). */
  readonly status: string
  /** Null where it was not taken. */
  readonly messageId: string | null
}

/** A submit as an entry of the ledger. */
export function toEntry(
  submit: TextPdu & { source_addr: string; destination_addr: string },
  status: string,
  messageId: string | null,
  defaultAlphabet: DefaultAlphabet,
): LedgerEntry {
  const part = readPart(submit)
  const { text, octets } = joinParts([{ ...part, concatenation: null }], { defaultAlphabet })
  return {
    source: submit.source_addr,
    destination: submit.destination_addr,
    text: text ?? octets.toString('hex'),
    part: part.concatenation?.part ?? 1,
    at: new Date(),
    status,
    messageId,
  }
}

/** One receipt, or part of a reply, as far as it has come. */
export interface DeliveryEntry {
  readonly kind: Delivery['kind']
  readonly phone: string
  /** The id and the state of a receipt; '' for replies. */
  readonly id: string
  readonly state: string
  readonly timesSent: number
  /** The last answer that was heard, such as `ROK`; null: none. */
  readonly answer: string | null
}

/** A delivery as an entry of the ledger. */
export function toDeliveryEntry({ kind, phone, about, timesSent, answer }: Delivery): DeliveryEntry {
  return { kind, phone, id: about?.id ?? '', state: about?.state ?? '', timesSent, answer }
}
