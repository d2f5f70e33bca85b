import { type DefaultAlphabet, joinParts, readPart, type TextPdu } from '@heliogram/smpp'
import type { Delivery } from './mailbox.ts'

export interface LedgerEntry {
  readonly source: string
  readonly destination: string
  /** Of this submit alone; hexadecimal if its octets are not text. */
  readonly text: string
  /** 1 for a message of one segment. */
  readonly part: number
  readonly at: Date
  /** Its answer, sent or not (`ROK`, `RTHROTTLED`, `0x00000400`), or the fault if it was not taken (`drop`). */
  readonly status: string
  /** Null if it was not taken. */
  readonly messageId: string | null
}

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

export interface DeliveryEntry {
  readonly kind: Delivery['kind']
  readonly phone: string
  /** The id and state of a receipt; '' for replies. */
  readonly id: string
  readonly state: string
  readonly timesSent: number
  /** The last answer heard, such as `ROK`, or null. */
  readonly answer: string | null
}

export function toDeliveryEntry({ kind, phone, about, timesSent, answer }: Delivery): DeliveryEntry {
  return { kind, phone, id: about?.id ?? '', state: about?.state ?? '', timesSent, answer }
}
