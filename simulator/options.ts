import type { ConcatenationMode, DefaultAlphabet } from '@heliogram/smpp'
import { latencyOf, type Range } from './latency.ts'
import type { IdFormat } from './message-ids.ts'

export interface SimulatorOptions {
  /** Default 127.0.0.1. */
  host?: string
  /** SMPP port; 0 takes a free one. Default 2775. */
  port?: number
  /** Port of the phones; 0 takes a free one. Default 8081. */
  httpPort?: number
  /** More host names for the phones, besides localhost and IP addresses. */
  allowedHosts?: readonly string[]
  /** Password by system_id; by default any client may bind. */
  credentials?: Readonly<Record<string, string>>
  /** SMPP over TLS, with a new certificate: see `Simulator.certificate`. Default false. */
  tls?: boolean
  /** Sessions per system_id; more are refused with RALYBND. Default 0: no limit. */
  sessionsMax?: number
  /** Milliseconds until a submit is answered, as a range or as parseLatency reads it. Default 20-120, half of them within 33. */
  responseDelay?: Range | string
  /** Milliseconds from that answer to the receipt. Default 800-2000. */
  receiptDelay?: Range | string
  /** Milliseconds from the receipt to an automatic reply. Default 1500-3000. */
  replyDelay?: Range | string
  /** Default `decimal`. */
  idFormat?: IdFormat
  /** Default true. */
  hasReceiptTlvs?: boolean
  /** The meaning of data_coding 0. Default `gsm7`. */
  alphabet?: DefaultAlphabet
  /** How long replies are split. Default `udh8`. */
  concatenation?: ConcatenationMode
  /** Most unanswered deliver_sm per session, so that receipts keep up with any client's window. Default 5000. */
  windowMax?: number
  /** Time until an unanswered deliver_sm is repeated. Default 10 000. */
  deliverTimeoutMs?: number
  /** Attempts per deliver_sm: real carriers try for a day or more. Default 100. */
  attemptsMax?: number
  /** Pause before a temporarily refused deliver_sm is repeated. Default 1 000. */
  retryDelayMs?: number
  /** Held deliver_sm per system_id; more are dropped and counted. Default 200 000. */
  heldMax?: number
  /** Remembered phones; the least recently used are forgotten. Default 500. */
  phonesMax?: number
  /** Messages remembered per phone. Default 100. */
  messagesMax?: number
  /** Duplicates are recognised across this many submits. Default 100 000. */
  duplicateWindow?: number
  /** Records every submit in `ledger`, and every receipt and reply in `deliveries`, without limit. Default false. */
  keepLedger?: boolean
  /** The API's address on the page. Default http://127.0.0.1:8080. */
  apiUrl?: string
}

export type SimulatorSettings = Required<Omit<SimulatorOptions, 'credentials' | Latency>> &
  Pick<SimulatorOptions, 'credentials'> &
  Record<Latency, string>

type Latency = 'responseDelay' | 'receiptDelay' | 'replyDelay'

export function settingsOf(options: SimulatorOptions): SimulatorSettings {
  return {
    host: '127.0.0.1',
    port: 2775,
    httpPort: 8081,
    allowedHosts: [],
    tls: false,
    sessionsMax: 0,
    idFormat: 'decimal',
    hasReceiptTlvs: true,
    alphabet: 'gsm7',
    concatenation: 'udh8',
    windowMax: 5_000,
    deliverTimeoutMs: 10_000,
    attemptsMax: 100,
    retryDelayMs: 1_000,
    heldMax: 200_000,
    phonesMax: 500,
    messagesMax: 100,
    duplicateWindow: 100_000,
    keepLedger: false,
    apiUrl: 'http://127.0.0.1:8080',
    ...options,
    responseDelay: latencyOf(options.responseDelay ?? '20-120'),
    receiptDelay: latencyOf(options.receiptDelay ?? '800-2000'),
    replyDelay: latencyOf(options.replyDelay ?? '1500-3000'),
  }
}
