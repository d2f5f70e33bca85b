import {
  type CodingOptions,
  codingOf,
  countSegments,
  decodeText,
  type DefaultAlphabet,
  joinParts,
  type MessagePart,
  type ReceiptState,
  readPart,
  type TextPdu,
} from '@heliogram/smpp'
import { isNumber } from './numbers.ts'
import { RecentMap } from './recent.ts'

/** The progress of a message's deliver_sm: receipts, or parts of a reply. */
export interface Progress {
  due: number
  sent: number
  answered: number
}

export interface Outcome {
  readonly state: ReceiptState
  readonly err: string
}

export interface PhoneMessage {
  /** Rises over all phones. */
  readonly id: number
  /** `arrived` at the phone, or `typed` on it. */
  readonly direction: 'arrived' | 'typed'
  readonly peer: string
  /** Null if the octets are not text. Of a long message the parts so far. */
  text: string | null
  readonly at: Date
  readonly encoding: 'GSM-7' | 'UCS-2' | 'binary' | 'other'
  readonly segments: number
  segmentsHere: number
  /** Null if no receipt was requested, or none ever comes. */
  outcome: Outcome | null
  readonly progress: Progress
}

export interface PhoneSummary {
  readonly number: string
  readonly unread: number
  readonly peers: readonly string[]
  readonly last: PhoneMessage | null
}

interface Phone {
  readonly number: string
  unread: number
  readonly messages: PhoneMessage[]
}

interface Unfinished {
  readonly message: PhoneMessage
  readonly parts: MessagePart[]
}

export interface Arrival {
  readonly message: PhoneMessage
  readonly isWhole: boolean
}

/** Incomplete long messages at a time. */
const UNFINISHED_MAX = 10_000

/** A bounded number of phones, with a bounded number of messages each. */
export class Phones {
  readonly #phonesMax: number
  readonly #messagesMax: number
  readonly #coding: CodingOptions
  readonly #onChange: (number: string) => void
  /** Least recently used first. */
  readonly #phones = new Map<string, Phone>()
  readonly #unfinished = new RecentMap<Unfinished>(UNFINISHED_MAX)
  #lastId = 0

  constructor(
    settings: { phonesMax: number; messagesMax: number; alphabet: DefaultAlphabet },
    onChange: (number: string) => void,
  ) {
    this.#phonesMax = settings.phonesMax
    this.#messagesMax = settings.messagesMax
    this.#coding = { defaultAlphabet: settings.alphabet }
    this.#onChange = onChange
  }

  /** A new message, or one more part of a long one. */
  arrive(number: string, peer: string, pdu: TextPdu): Arrival {
    const part = readPart(pdu)
    return part.concatenation === null
      ? { message: this.#arriveWhole(number, peer, part), isWhole: true }
      : this.#arrivePart(number, peer, part, part.concatenation)
  }

  type(number: string, peer: string, text: string): PhoneMessage {
    const { encoding, segments } = countSegments(text)
    return this.#add(number, { direction: 'typed', peer, text, encoding, segments, segmentsHere: segments })
  }

  /** Last used first. */
  list(): PhoneSummary[] {
    return [...this.#phones.values()].reverse().map((phone) => ({
      number: phone.number,
      unread: phone.unread,
      peers: peersOf(phone),
      last: phone.messages.at(-1) ?? null,
    }))
  }

  /** In order; empty for an unknown phone. */
  messages(number: string): readonly PhoneMessage[] {
    return this.#phones.get(number)?.messages ?? []
  }

  /** The last number that wrote to the phone; undefined if none did. Names cannot be replied to. */
  lastPeer(number: string): string | undefined {
    return this.messages(number).findLast((message) => message.direction === 'arrived' && isNumber(message.peer))?.peer
  }

  read(number: string): void {
    const phone = this.#phones.get(number)
    if (phone === undefined || phone.unread === 0) return
    phone.unread = 0
    this.#onChange(number)
  }

  touch(number: string): void {
    this.#onChange(number)
  }

  #arriveWhole(number: string, peer: string, part: MessagePart): PhoneMessage {
    const coding = codingOf(part.data_coding, this.#coding)
    const text = decodeText(part.body, coding, { shift: part.shift, udhLength: part.udhLength })
    const encoding = encodingOf(coding)
    // A message_payload is one PDU of many segments, which the carrier would split.
    const segments = typeof text === 'string' && part.body.length > 140 ? countSegments(text).segments : 1
    return this.#add(number, {
      direction: 'arrived',
      peer,
      text: typeof text === 'string' ? text : null,
      encoding,
      segments,
      segmentsHere: segments,
    })
  }

  #arrivePart(
    number: string,
    peer: string,
    part: MessagePart,
    { kind, reference, total }: { kind: string; reference: number; total: number },
  ): Arrival {
    const key = `${peer} ${number} ${kind} ${reference} ${total}`
    const kept: MessagePart = { ...part, body: Buffer.from(part.body) }
    const known = this.#unfinished.get(key)
    const parts = [...(known?.parts ?? []), kept]
    const joined = joinParts(parts, this.#coding)
    const isWhole = joined.missing.length === 0
    const message =
      known?.message ??
      this.#add(number, {
        direction: 'arrived',
        peer,
        text: joined.text,
        encoding: encodingOf(codingOf(part.data_coding, this.#coding)),
        segments: total,
        segmentsHere: 1,
      })
    message.text = joined.text
    message.segmentsHere = total - joined.missing.length
    if (isWhole) this.#unfinished.delete(key)
    else this.#unfinished.set(key, { message, parts })
    this.#onChange(number)
    return { message, isWhole }
  }

  #add(number: string, shown: Omit<PhoneMessage, 'id' | 'at' | 'outcome' | 'progress'>): PhoneMessage {
    const progress = { due: 0, sent: 0, answered: 0 }
    const message: PhoneMessage = { ...shown, id: ++this.#lastId, at: new Date(), outcome: null, progress }
    const phone = this.#use(number)
    phone.messages.push(message)
    if (phone.messages.length > this.#messagesMax) phone.messages.shift()
    if (message.direction === 'arrived') phone.unread++
    this.#onChange(number)
    return message
  }

  #use(number: string): Phone {
    const phone = this.#phones.get(number) ?? { number, unread: 0, messages: [] }
    this.#phones.delete(number)
    this.#phones.set(number, phone)
    if (this.#phones.size > this.#phonesMax) {
      for (const oldest of this.#phones.keys()) {
        this.#phones.delete(oldest)
        break
      }
    }
    return phone
  }
}

function peersOf(phone: Phone): string[] {
  return [...new Set(phone.messages.map((message) => message.peer))].reverse()
}

function encodingOf(coding: string): PhoneMessage['encoding'] {
  if (coding === 'ucs2') return 'UCS-2'
  if (coding === 'binary') return 'binary'
  return coding === 'gsm7' || coding === 'gsm7-packed' ? 'GSM-7' : 'other'
}
