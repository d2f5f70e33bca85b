/**
 * The meanings of a carrier's codes: its operator's table over the defaults, compiled for the paths of every message. The operator's rows override
 * every default; among them the exact one (word and number) comes first, then the number alone, then the word alone. Below are the documented codes
 * of the carrier's HTTP API, then those of SMPP and the mobile networks.
 */
import { type Mapping, readHttpSettings, readMappings, readMark } from './store.ts'
import type { Db } from '../ground/db/db.ts'
import {
  handlingOf,
  reasonOfReceipt,
  reasonOfStatus,
  type Reason,
  type Reasons,
  type ReceiptWords,
} from '../message/taxonomy.ts'
import { Refresher } from '../ground/base/refresher.ts'
import type { Codes } from '../http-carriers/adapter.ts'
import { adapters, tableOf } from '../http-carriers/adapters.ts'

export interface StatusMap {
  /** A refused submit_sm, by its command_status. */
  ofStatus(status: number): Reason
  /** A refusal of an HTTP carrier, by its own code; null if it is not in the table. */
  ofCode(code: string): Reason | null
  ofReceipt(receipt: ReceiptWords): Reason
}

/** `0x00000458`: a command_status in tables. */
export function canonicalStatus(status: number): string {
  return `0x${(status >>> 0).toString(16).padStart(8, '0')}`
}

/** The word of a receipt in tables: upper case. */
export function canonicalWord(stat: string | null): string {
  return (stat ?? '').trim().toUpperCase()
}

/** The number of a receipt in tables: `011` is 11; other words (`21b`, `0x45`) are in upper case. */
export function canonicalErr(err: string | null): string {
  const text = (err ?? '').trim()
  return /^\d+$/.test(text) ? text.replace(/^0+(?=\d)/, '') : text.toUpperCase()
}

/** Rows are in canonical form. `documented`: codes of receipts that the carrier's adapter knows. */
export function compileMap(rows: readonly Mapping[], documented: Codes = {}): StatusMap {
  const submits = new Map<string, Reason>()
  const statuses = new Map<number, Reason>()
  const receipts = new Map<string, Reason>()
  for (const { kind, stat, code, error, handling } of rows) {
    const reason: Reason = { code: error, handling }
    if (kind === 'receipt') receipts.set(receiptKey(stat, code), reason)
    else {
      submits.set(code, reason)
      if (/^0x[0-9a-f]{8}$/.test(code)) statuses.set(Number(code), reason)
    }
  }
  const ofDefault = (receipt: ReceiptWords): Reason => {
    const code = receipt.err !== null && Object.hasOwn(documented, receipt.err) ? documented[receipt.err] : undefined
    return code === undefined ? reasonOfReceipt(receipt) : { code, handling: handlingOf(code) }
  }
  const ofReceipt = (receipt: ReceiptWords): Reason => {
    if (receipts.size === 0) return ofDefault(receipt)
    const stat = canonicalWord(receipt.stat)
    const err = canonicalErr(receipt.err)
    return (
      receipts.get(receiptKey(stat, err)) ??
      (err === '' ? undefined : receipts.get(receiptKey('', err))) ??
      receipts.get(receiptKey(stat, '')) ??
      ofDefault(receipt)
    )
  }
  return {
    ofStatus: (status) => statuses.get(status) ?? reasonOfStatus(status),
    ofCode: (code) => submits.get(code) ?? null,
    ofReceipt,
  }
}

// A receipt's word has no blank, so the key is unambiguous.
const receiptKey = (stat: string, err: string): string => `${stat} ${err}`

const defaultMap = compileMap([])

/** The tables of all carriers, by carrier and by link. */
export class StatusMaps implements Reasons {
  readonly #db: Db
  #byCarrier = new Map<string, StatusMap>()
  #carrierOfLink: Readonly<Record<string, string>> = {}
  #mark = ''
  readonly #refresher = new Refresher(() => this.#read())

  constructor(db: Db) {
    this.#db = db
  }

  refresh(): Promise<void> {
    return this.#refresher.now()
  }

  async #read(): Promise<void> {
    // Before the rows: changes in between are read again.
    const { mark, carrierOfLink } = await readMark(this.#db)
    this.#carrierOfLink = carrierOfLink
    if (mark === this.#mark) return
    const byCarrier = new Map<string, Mapping[]>()
    for (const { carrierId, ...mapping } of await readMappings(this.#db)) {
      const rows = byCarrier.get(carrierId)
      if (rows) rows.push(mapping)
      else byCarrier.set(carrierId, [mapping])
    }
    // An adapter that only a newer process knows must not keep the other tables from being read.
    const https = (await readHttpSettings(this.#db)).filter(({ settings }) => Object.hasOwn(adapters, settings.adapter))
    const documented = new Map(https.map(({ carrierId, settings }) => [carrierId, tableOf(settings).receipts]))
    const carrierIds = new Set([...byCarrier.keys(), ...documented.keys()])
    this.#byCarrier = new Map(
      [...carrierIds].map((id) => [id, compileMap(byCarrier.get(id) ?? [], documented.get(id))]),
    )
    this.#mark = mark
  }

  /** The defaults if it has none. */
  of(carrierId: string): StatusMap {
    return this.#byCarrier.get(carrierId) ?? defaultMap
  }

  /** By the link's carrier; the defaults if it has none. */
  ofLink(linkId: string): StatusMap {
    return this.of(this.#carrierOfLink[linkId] ?? '')
  }

  ofStatus(linkId: string, status: number): Reason {
    return this.ofLink(linkId).ofStatus(status)
  }

  ofReceipt(linkId: string, receipt: ReceiptWords): Reason {
    return this.ofLink(linkId).ofReceipt(receipt)
  }
}
