import { readPart, type TextPdu, type TextTlvs } from './concat.ts'
import { type ReceiptFields, readReceiptText } from './receipt-text.ts'
import { isFailure, isLastState, MESSAGE_STATES, type ReceiptState, STATE_WORDS, stateOfWord } from './states.ts'

export type ReceiptPdu = TextPdu & { tlvs?: ReceiptTlvs | undefined }

/** The TLVs of a receipt (SMPP 3.4 §5.3.2.12, .35, .31). */
export type ReceiptTlvs = TextTlvs & {
  receipted_message_id?: string
  message_state?: number
  network_error_code?: Buffer
}

export type Receipt = {
  /** As written: "0" is an id, and zeros and case count. Empty if there is none. At most 255 characters. */
  id: string
  /** The id in the text if it differs from the TLV's: some carriers write one in decimal and the other in hexadecimal. */
  otherId: string | null
  state: ReceiptState
  /** The carrier's word for the state; SMPP's word if the TLV decided it. */
  stat: string
  /** The other final state if TLV and text have different ones, else null. */
  contradiction: { state: ReceiptState; stat: string } | null
  /** Number of parts of a long message that the receipt covers, by `sub` and `dlvrd`; null: only the part that it names. */
  parts: number | null
  /** As written, such as `000` or `21b`. A failure without one in the text gets the number of the network's TLV. */
  err: string | null
  /** As written, in an unknown time zone: never sort by it. */
  submitDate: string | null
  /** As submitDate. */
  doneDate: string | null
  /** `network` is 1 ANSI-136, 2 IS-95, 3 GSM, 4 reserved (SMPP 3.4 §5.3.2.31). */
  networkErrorCode: { network: number; code: number } | null
  /** More will follow: an intermediate notification, or a state before the message left the carrier. */
  isIntermediate: boolean
}

/** Message type, bits 5 to 2 of esm_class (SMPP 3.4 §5.2.12). */
const TYPE_BITS = 0x3c
const DELIVERY_RECEIPT = 0x04
const INTERMEDIATE = 0x20

/** Above the longest specified id (65), below what a database index refuses. */
const ID_CHARACTERS_MAX = 255

/**
 * Reads a receipt; null for anything else, which is a reply. Never fails.
 *
 * With the receipt or intermediate bit every PDU is a receipt. Without it (handset acknowledgements, and carriers that set no bit) it must name a
 * message and a state by TLV, or have a receipt's text: an id, a state, and a date or error. TLVs take precedence over the text, which completes
 * them. A final state takes precedence over an intermediate one.
 */
export function parseReceipt(pdu: ReceiptPdu): Receipt | null {
  const type = pdu.esm_class & TYPE_BITS
  const isMarked = (type & (DELIVERY_RECEIPT | INTERMEDIATE)) !== 0
  const tlvId = cleanId(pdu.tlvs?.receipted_message_id ?? '')
  const tlvState = MESSAGE_STATES[pdu.tlvs?.message_state ?? -1]
  const fields = readReceiptText(readPart(pdu).body)
  if (!isMarked && !(tlvId !== '' && tlvState) && !isReceiptText(fields)) return null

  const textId = cleanId(fields.id ?? '')
  const { state, stat, contradiction } = decideState(tlvState, fields.stat)
  const networkErrorCode = readNetworkErrorCode(pdu.tlvs?.network_error_code)
  return {
    id: tlvId === '' ? textId : tlvId,
    otherId: tlvId !== '' && textId !== '' && textId !== tlvId ? textId : null,
    state,
    stat,
    contradiction,
    parts: partsOf(state, fields),
    err: errOf(state, fields.err ?? null, networkErrorCode),
    submitDate: fields.submitDate ?? null,
    doneDate: fields.doneDate ?? null,
    networkErrorCode,
    isIntermediate: (type & INTERMEDIATE) !== 0 || state === 'scheduled' || state === 'enroute',
  }
}

/**
 * A final state takes precedence over an intermediate one, and any state over "unknown". Of two final states the TLV's counts; of two failures
 * the text's, because it has the carrier's own word.
 */
function decideState(
  tlvState: ReceiptState | undefined,
  word: string | undefined,
): Pick<Receipt, 'state' | 'stat' | 'contradiction'> {
  const textState = stateOfWord(word ?? '')
  if (!tlvState) return { state: textState ?? 'unknown', stat: word ?? STATE_WORDS.unknown, contradiction: null }
  const ofTlv = { state: tlvState, stat: STATE_WORDS[tlvState] }
  if (word === undefined || textState === null) return { ...ofTlv, stat: word ?? ofTlv.stat, contradiction: null }
  const ofText = { state: textState, stat: word }
  if (textState === tlvState) return { ...ofText, contradiction: null }
  if (isLastState(tlvState) && isLastState(textState))
    return isFailure(tlvState) && isFailure(textState)
      ? { ...ofText, contradiction: ofTlv }
      : { ...ofTlv, contradiction: ofText }
  const isOfText = isLastState(textState) || (!isLastState(tlvState) && tlvState === 'unknown')
  return { ...(isOfText ? ofText : ofTlv), contradiction: null }
}

/** If all parts or none were delivered, one receipt ends them all. Otherwise it covers one part. */
function partsOf(state: ReceiptState, { sub, dlvrd }: ReceiptFields): number | null {
  const [submitted, delivered] = [sub, dlvrd].map((word = '') => (/^\d{1,5}$/.test(word) ? Number(word) : Number.NaN))
  if (submitted === undefined || !(submitted > 1)) return null
  return (state === 'delivered' ? delivered === submitted : isFailure(state) && delivered === 0) ? submitted : null
}

/** A failure without a number in its text gets the one of the network's TLV, except from networks with other tables (1 ANSI-136, 2 IS-95). */
function errOf(state: ReceiptState, err: string | null, network: Receipt['networkErrorCode']): string | null {
  if (!isFailure(state) || !network || network.code === 0 || network.network === 1 || network.network === 2) return err
  return err === null || /^0*$/.test(err) ? String(network.code).padStart(3, '0') : err
}

/** People do not write this by chance, and a forger would need a known message id of the carrier to gain by it. */
function isReceiptText({ id, stat, err, submitDate, doneDate }: ReceiptFields): boolean {
  const isDetailed = (submitDate ?? doneDate ?? err) !== undefined
  return id !== undefined && stat !== undefined && stateOfWord(stat) !== null && isDetailed
}

/** Without blanks, the NUL, and what some carriers leave after it. */
function cleanId(rawId: string): string {
  const nul = rawId.indexOf('\0')
  return (nul < 0 ? rawId : rawId.slice(0, nul)).trim().slice(0, ID_CHARACTERS_MAX)
}

function readNetworkErrorCode(octets: Buffer | undefined): Receipt['networkErrorCode'] {
  return octets && octets.length >= 3 ? { network: octets.readUInt8(0), code: octets.readUInt16BE(1) } : null
}

export type ReceiptInput = {
  id: string
  state: ReceiptState
  submitDate: Date
  doneDate: Date
  /** Default `000`. */
  err?: string
  /** Cut to 20 characters. */
  text?: string
}

/** The text of a receipt (SMPP 3.4 appendix B), dates in UTC to the minute. */
export function formatReceipt(receipt: ReceiptInput): string {
  const { id, state, submitDate, doneDate, err = '000', text = '' } = receipt
  const delivered = state === 'delivered' ? '001' : '000'
  const dates = `submit date:${formatDate(submitDate)} done date:${formatDate(doneDate)}`
  return `id:${id} sub:001 dlvrd:${delivered} ${dates} stat:${STATE_WORDS[state]} err:${err} text:${text.slice(0, 20)}`
}

/** YYMMDDhhmm */
function formatDate(date: Date): string {
  return date.toISOString().replaceAll(/\D/g, '').slice(2, 12)
}
