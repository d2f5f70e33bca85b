import type { ConcatenationMode, StatusName } from '@heliogram/smpp'
import type { Range } from './range.ts'

/** How message ids are written: in submit responses and in receipts. */
export type IdFormat = 'decimal' | 'hex' | 'hex_decimal' | 'decimal_hex'

/** What the simulator does wrong until told otherwise, for every recipient. */
export interface Faults {
  /** `silent`: never answered; `nack`: generic_nack; else the status it is refused with. */
  bind: 'accept' | 'silent' | 'nack' | StatusName
  /**
   * `silent`: never answered (and nothing taken); `nack`, `nack_null`: generic_nack with the sequence number or with 0;
   * `drop`, `unbind`: the connection is closed, or unbound, instead of an answer; else the status it is refused with.
   */
  submit: 'accept' | 'silent' | 'nack' | 'nack_null' | 'drop' | 'unbind' | StatusName
  /** Share of submits refused with RTHROTTLED, 0 to 1. */
  throttleRatio: number
  /** Submits above so many a second are refused with RTHROTTLED; 0 for no limit. */
  submitsPerSecondMax: number
  /** Accepted submits wait for their answers until this is false again. */
  isPaused: boolean
  /** Receipts are kept until this is false again. */
  isHoldingReceipts: boolean
  /** The order in which the parts of a long reply are sent. */
  partOrder: 'in_order' | 'last_first'
}

/** The well-behaved carrier. */
export const FAULTLESS: Readonly<Faults> = {
  bind: 'accept',
  submit: 'accept',
  throttleRatio: 0,
  submitsPerSecondMax: 0,
  isPaused: false,
  isHoldingReceipts: false,
  partOrder: 'in_order',
}

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
  /** Milliseconds until a submit is answered. Default 20-120, half of them within 33. */
  responseDelay?: Range
  /** Milliseconds from that answer to the receipt. Default 800-2000. */
  receiptDelay?: Range
  /** Milliseconds until a phone answers by itself. Default 1500-3000. */
  replyDelay?: Range
  /** Default `decimal`. */
  idFormat?: IdFormat
  /** Whether receipts carry TLVs besides their text. Default true. */
  hasReceiptTlvs?: boolean
  /** How long replies are cut. Default `udh8`. */
  concatenation?: ConcatenationMode
  /** Most deliver_sm awaiting an answer on one session: so many that receipts keep up with any client's window. Default 5000. */
  windowMax?: number
  /** How long a deliver_sm waits for its answer before it is sent again. Default 10 000. */
  deliverTimeoutMs?: number
  /** How often a deliver_sm is sent before it is given up. Default 10. */
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
  /** Records every submit in `ledger`, without bound. Default false. */
  keepLedger?: boolean
  /** Where the page says messages are sent to. Default http://127.0.0.1:8080. */
  apiUrl?: string
}

/** Options with their defaults. */
export type SimulatorSettings = Required<Omit<SimulatorOptions, 'credentials'>> & Pick<SimulatorOptions, 'credentials'>

/** Fills in the defaults. */
export function settingsOf(options: SimulatorOptions): SimulatorSettings {
  return {
    host: '127.0.0.1',
    port: 2775,
    httpPort: 8081,
    allowedHosts: [],
    responseDelay: { min: 20, max: 120 },
    receiptDelay: { min: 800, max: 2_000 },
    replyDelay: { min: 1_500, max: 3_000 },
    idFormat: 'decimal',
    hasReceiptTlvs: true,
    concatenation: 'udh8',
    windowMax: 5_000,
    deliverTimeoutMs: 10_000,
    attemptsMax: 10,
    retryDelayMs: 1_000,
    heldMax: 200_000,
    phonesMax: 500,
    messagesMax: 100,
    duplicateWindow: 100_000,
    keepLedger: false,
    apiUrl: 'http://127.0.0.1:8080',
    ...options,
  }
}
