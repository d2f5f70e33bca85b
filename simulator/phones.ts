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

/** How far the deliver_sm of a message are: its receipts, or the parts of a reply. */
export interface Progress {
  due: number
  sent: number
  answered: number
}

/** What the receipts of a message say. */
export interface Outcome {
  readonly state: ReceiptState
  readonly err: string
}

/** A bubble on a phone. */
export interface PhoneMessage {
  /** Rises over all phones. */
  readonly id: number
  /** `arrived` at the phone, or `typed` on it. */
  readonly direction: 'arrived' | 'typed'
  /** The number or name at the other end. */
  readonly peer: string
  /** Null where the octets are no text. Of a long message what has arrived so far. */
  text: string | null
  readonly at: Date
  readonly encoding: 'GSM-7' | 'UCS-2' | 'binary' | 'other'
  /** How many segments it has, and how many of them are here. */
  readonly segments: number
  segmentsHere: number
  /** Null where no receipt was asked for, or none ever comes. */
  outcome: Outcome | null
  readonly progress: Progress
}

/** A row of the list of phones. */
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

/** What has arrived at a phone, and whether nothing of it is missing any more. */
export interface Arrival {
  readonly message: PhoneMessage
  readonly isWhole: boolean
}

/** Long messages that may be incomplete at one time. */
const UNFINISHED_MAX = 10_000

/** The phones that the simulator remembers: a bounded number of them, with a bounded number of messages each. */
export class Phones {
  readonly #phonesMax: number
  readonly #messagesMax: number
  readonly #coding: CodingOptions
  readonly #onChange: (number: string) => void
  /** In the order of use, the latest last. */
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

  /** Shows a submit on its recipient's phone: as a new message, or as one more part of a long one. */
  arrive(number: string, peer: string, pdu: TextPdu): Arrival {
    const part = readPart(pdu)
    return part.concatenation === null
      ? { message: this.#arriveWhole(number, peer, part), isWhole: true }
      : this.#arrivePart(number, peer, part, part.concatenation)
  }

  /** Shows what was typed on a phone. */
  type(number: string, peer: string, text: string): PhoneMessage {
    const { encoding, segments } = countSegments(text)
    return this.#add(number, { direction: 'typed', peer, text, encoding, segments, segmentsHere: segments })
  }

  /** Lists the phones, the last used first. */
  list(): PhoneSummary[] {
    return [...this.#phones.values()].reverse().map((phone) => ({
      number: phone.number,
      unread: phone.unread,
      peers: peersOf(phone),
      last: phone.messages.at(-1) ?? null,
    }))
  }

  /** The messages of a phone in their order; none of one that is not known. */
  messages(number: string): readonly PhoneMessage[] {
    return this.#phones.get(number)?.messages ?? []
  }

  /** The number that wrote to the phone last, as names cannot be replied to; undefined where none did. */
  lastPeer(number: string): string | undefined {
    return this.messages(number).findLast((message) => message.direction === 'arrived' && isNumber(message.peer))?.peer
  }

  /** Marks a phone as read. */
  read(number: string): void {
    const phone = this.#phones.get(number)
    if (phone === undefined || phone.unread === 0) return
    phone.unread = 0
    this.#onChange(number)
  }

  /** Says that something of the phone's messages is no more as it was. */
  touch(number: string): void {
    this.#onChange(number)
  }

  #arriveWhole(number: string, peer: string, part: MessagePart): PhoneMessage {
    const coding = codingOf(part.data_coding, this.#coding)
    const text = decodeText(part.body, coding, { shift: part.shift, udhLength: part.udhLength })
    const encoding = encodingOf(coding)
    // A message_payload is one PDU of many segments: the carrier would cut it.
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
