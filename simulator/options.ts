import type { ConcatenationMode, DefaultAlphabet } from '@heliogram/smpp'
import { latencyOf, type Range } from './latency.ts'
import type { IdFormat } from './message-ids.ts'

/** How a simulator behaves; every field has a default. */
export interface SimulatorOptions {
  /** Listens here. Default 127.0.0.1. */
  host?: string
  /** SMPP port; 0 takes a free one. Default 2775. */
  port?: number
  /** Port of the phones; 0 takes a free one. Default 8081. */
  httpPort?: number
  /** Host names under which a browser may reach the phones, besides localhost and IP addresses. */
  allowedHosts?: readonly string[]
  /** Password by system_id; without it anyone may bind. */
  credentials?: Readonly<Record<string, string>>
  /** SMPP over TLS, with a certificate made at the start: see `Simulator.certificate`. Default false. */
  tls?: boolean
  /** Sessions that a system_id may have; a bind above them is refused with RALYBND. Default 0: no limit. */
  sessionsMax?: number
  /** Milliseconds until a submit is answered, as a range or as parseLatency reads it. Default 20-120, half of them within 33. */
  responseDelay?: Range | string
  /** Milliseconds from that answer to the receipt. Default 800-2000. */
  receiptDelay?: Range | string
  /** Milliseconds from there until a phone answers by itself. Default 1500-3000. */
  replyDelay?: Range | string
  /** Default `decimal`. */
  idFormat?: IdFormat
  /** Whether receipts carry TLVs besides their text. Default true. */
  hasReceiptTlvs?: boolean
  /** What data_coding 0 means, in submits and in replies. Default `gsm7`. */
  alphabet?: DefaultAlphabet
  /** How long replies are cut. Default `udh8`. */
  concatenation?: ConcatenationMode
  /** Most deliver_sm awaiting an answer on one session: so many that receipts keep up with any client's window. Default 5000. */
  windowMax?: number
  /** How long a deliver_sm waits for its answer before it is sent again. Default 10 000. */
  deliverTimeoutMs?: number
  /** How often a deliver_sm is sent before it is given up: carriers try for a day or more. Default 100. */
  attemptsMax?: number
  /** Pause before a deliver_sm that was refused for now is sent again. Default 1 000. */
  retryDelayMs?: number
  /** How many deliver_sm are held for one system_id; more are dropped and counted. Default 200 000. */
  heldMax?: number
  /** Phones remembered, those least recently used forgotten first. Default 500. */
  phonesMax?: number
  /** Messages remembered of each phone. Default 100. */
  messagesMax?: number
  /** A duplicate is recognised if at most so many submits lie between. Default 100 000. */
  duplicateWindow?: number
  /** Records every submit in `ledger`, and every receipt and reply in `deliveries`, without bound. Default false. */
  keepLedger?: boolean
  /** Where the page says messages are sent to. Default http://127.0.0.1:8080. */
  apiUrl?: string
}

/** Options with their defaults, latencies as text. */
export type SimulatorSettings = Required<Omit<SimulatorOptions, 'credentials' | Latency>> &
  Pick<SimulatorOptions, 'credentials'> &
  Record<Latency, string>

type Latency = 'responseDelay' | 'receiptDelay' | 'replyDelay'

/** Fills in the defaults. */
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
