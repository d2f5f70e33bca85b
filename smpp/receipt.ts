import { readPart, type TextPdu, type TextTlvs } from './concat.ts'
import { type ReceiptFields, readReceiptText } from './receipt-text.ts'
import { isFailure, isLastState, MESSAGE_STATES, type ReceiptState, STATE_WORDS, stateOfWord } from './states.ts'

/** What parseReceipt needs of a deliver_sm or data_sm. */
export type ReceiptPdu = TextPdu & { tlvs?: ReceiptTlvs | undefined }

/** The TLVs of a receipt (SMPP 3.4 §5.3.2.12, .35, .31), next to those of any text. */
export type ReceiptTlvs = TextTlvs & {
  receipted_message_id?: string
  message_state?: number
  network_error_code?: Buffer
}

/** A carrier's word on the outcome of one submit. */
export type Receipt = {
  /** As the carrier wrote it: "0" is an id, zeros and case count. Empty when it gave none. At most 255 characters. */
  id: string
  /** The id in the text where it differs from the TLV's: some carriers write one decimal and the other hexadecimal. */
  otherId: string | null
  state: ReceiptState
  /** The carrier's word for the state; SMPP's own word when the TLV decided it. */
  stat: string
  /** The other last word, where the TLV and the text have two that differ; null: they agree, or one of them has no last word. */
  contradiction: { state: ReceiptState; stat: string } | null
  /** Parts of a long message that it says it speaks for, by `sub` and `dlvrd`; null: for no more than the part that it names. */
  parts: number | null
  /** As written, such as `000` or `21b`; of a failure that gives none in the text, the number of the network's TLV. */
  err: string | null
  /** As written, in a zone that only the carrier knows: never order by it. */
  submitDate: string | null
  /** As submitDate. */
  doneDate: string | null
  /** `network` is 1 ANSI-136, 2 IS-95, 3 GSM, 4 reserved (SMPP 3.4 §5.3.2.31). */
  networkErrorCode: { network: number; code: number } | null
  /** The carrier will say more: an intermediate notification, or a state before the message left the carrier. */
  isIntermediate: boolean
}

/** Message type, bits 5 to 2 of esm_class (SMPP 3.4 §5.2.12). */
const TYPE_BITS = 0x3c
const DELIVERY_RECEIPT = 0x04
const INTERMEDIATE = 0x20

/** Longer than any id of the specification (65); shorter than what a database index refuses. */
const ID_CHARACTERS_MAX = 255

/**
 * Reads a receipt; null for anything else, which is then somebody's reply. Never fails.
 *
 * With the receipt or intermediate bit it is one, whatever it holds. Without it (handset acknowledgements, and carriers
 * that set no bit) it must name a message and a state by TLV, or read as a receipt does: an id, a state, and a date or error.
 * TLVs count before text, and text completes them. Of the two states a last word counts before one that is none.
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
 * Of two states a last word counts before one that is none, and any other before "unknown". Of two last words the TLV's counts; but of two
 * failures the text's, which has the carrier's own word.
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

/** All parts were delivered, or none: then one receipt tells the end of all. What lies between is the word on one of them. */
function partsOf(state: ReceiptState, { sub, dlvrd }: ReceiptFields): number | null {
  const [submitted, delivered] = [sub, dlvrd].map((word = '') => (/^\d{1,5}$/.test(word) ? Number(word) : Number.NaN))
  if (submitted === undefined || !(submitted > 1)) return null
  return (state === 'delivered' ? delivered === submitted : isFailure(state) && delivered === 0) ? submitted : null
}

/**
 * A failure without a number in its text has that of the network's TLV. Not that of networks which number by other tables (1 ANSI-136, 2
 * IS-95).
 */
function errOf(state: ReceiptState, err: string | null, network: Receipt['networkErrorCode']): string | null {
  if (!isFailure(state) || !network || network.code === 0 || network.network === 1 || network.network === 2) return err
  return err === null || /^0*$/.test(err) ? String(network.code).padStart(3, '0') : err
}

/** What nobody writes by chance; and who writes it to deceive must know an id of the carrier to gain by it. */
function isReceiptText({ id, stat, err, submitDate, doneDate }: ReceiptFields): boolean {
  const isDetailed = (submitDate ?? doneDate ?? err) !== undefined
  return id !== undefined && stat !== undefined && stateOfWord(stat) !== null && isDetailed
}

/** Without the NUL, and what some carriers leave behind it, and blanks. */
function cleanId(rawId: string): string {
  const nul = rawId.indexOf('\0')
  return (nul < 0 ? rawId : rawId.slice(0, nul)).trim().slice(0, ID_CHARACTERS_MAX)
}

function readNetworkErrorCode(octets: Buffer | undefined): Receipt['networkErrorCode'] {
  return octets && octets.length >= 3 ? { network: octets.readUInt8(0), code: octets.readUInt16BE(1) } : null
}

/** What formatReceipt writes. */
export type ReceiptInput = {
  id: string
  state: ReceiptState
  submitDate: Date
  doneDate: Date
  /** `000` by default. */
  err?: string
  /** The first 20 characters are kept. */
  text?: string
}

/** The text of a receipt as carriers write it (SMPP 3.4 appendix B), dates in UTC to the minute. */
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
