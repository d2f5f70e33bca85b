/**
 * SMPP bytes of the benchmark's carrier, independent of `smpp/`: the measuring side must not share code with the measured one. Only the needs of
 * a sink: responses, reading submit_sm (SMPP 3.4 §4.4.1), writing deliver_sm receipts (§4.6.1, appendix B).
 */

/** SMPP 3.4 §5.1.2.1. */
export const command = {
  bindReceiver: 0x01,
  bindTransmitter: 0x02,
  submit: 0x04,
  deliver: 0x05,
  unbind: 0x06,
  bindTransceiver: 0x09,
  enquireLink: 0x15,
  response: 0x80000000,
} as const

/** ESME_RINVCMDID, SMPP 3.4 §5.1.3. */
export const invalidCommandId = 0x03

/** Digits of the carrier's message ids, decimal in response and receipt. */
const idDigits = 10

export const submitResponseLength = 16 + idDigits + 1

/** Upper bound, with two addresses of 20 digits. */
export const receiptLengthMax = 300

export function writeHeader(out: Buffer, at: number, length: number, id: number, status: number, sequence: number) {
  writeUint32(out, at, length)
  writeUint32(out, at + 4, id)
  writeUint32(out, at + 8, status)
  writeUint32(out, at + 12, sequence)
  return at + 16
}

export function writeSubmitResponse(out: Buffer, at: number, sequence: number, id: number): number {
  const end = at + submitResponseLength
  writeHeader(out, at, submitResponseLength, command.response + command.submit, 0, sequence)
  writeDecimal(out, at + 16, id, idDigits)
  out[end - 1] = 0
  return end
}

/** Positions of fields; addresses are TON, NPI, digits, NUL. */
export type Submit = {
  source: number
  destination: number
  destinationEnd: number
  isReceiptAsked: boolean
  text: number
  textEnd: number
}

/** Reads the submit_sm at `at` into `submit`, which is reused to save an object per message. */
export function readSubmit(bytes: Buffer, at: number, submit: Submit): void {
  submit.source = afterString(bytes, at + 16)
  submit.destination = afterString(bytes, submit.source + 2)
  submit.destinationEnd = afterString(bytes, submit.destination + 2)
  const afterSchedule = afterString(bytes, submit.destinationEnd + 3)
  const registeredDelivery = afterString(bytes, afterSchedule)
  submit.isReceiptAsked = ((bytes[registeredDelivery] ?? 0) & 0x03) === 0x01
  submit.text = registeredDelivery + 5
  submit.textEnd = submit.text + (bytes[submit.text - 1] ?? 0)
}

/** Receipt text of the minute of `timeMs`, with zeros for the id (SMPP 3.4 appendix B). */
export function receiptTextAt(timeMs: number): Buffer {
  const date = new Date(timeMs).toISOString().replace(/\D/g, '').slice(2, 12)
  const id = '0'.repeat(idDigits)
  const text = `id:${id} sub:001 dlvrd:001 submit date:${date} done date:${date} stat:DELIVRD err:000 text:`
  return Buffer.from(text, 'latin1')
}

// receipted_message_id (0x001E) with its NUL, then message_state (0x0427) DELIVERED, SMPP 3.4 §5.3.2.
const receiptTlvs = Buffer.from([0, 0x1e, 0, idDigits + 1, ...Array<number>(idDigits + 1).fill(0), 4, 0x27, 0, 1, 2])

/** Writes a "delivered" receipt for the submit in `bytes`; returns the offset after it. */
export function writeReceipt(
  out: Buffer,
  at: number,
  sequence: number,
  id: number,
  bytes: Buffer,
  submit: Submit,
  text: Buffer,
): number {
  let to = at + 16
  out[to++] = 0
  to = copy(bytes, submit.destination, submit.destinationEnd, out, to)
  to = copy(bytes, submit.source, submit.destination, out, to)
  out[to++] = 0x04
  // protocol_id, priority, schedule, validity, registered_delivery, replace_if_present, data_coding, sm_default_msg_id.
  for (let zeros = 0; zeros < 8; zeros++) out[to++] = 0
  const excerptEnd = Math.min(submit.textEnd, submit.text + 20)
  out[to++] = text.length + excerptEnd - submit.text
  text.copy(out, to)
  writeDecimal(out, to + 3, id, idDigits)
  to = copy(bytes, submit.text, excerptEnd, out, to + text.length)
  receiptTlvs.copy(out, to)
  writeDecimal(out, to + 4, id, idDigits)
  to += receiptTlvs.length
  writeHeader(out, at, to - at, command.deliver, 0, sequence)
  return to
}

export function writeDecimal(out: Buffer, at: number, value: number, digits: number): void {
  let rest = value
  for (let to = at + digits - 1; to >= at; to--) {
    const tenth = Math.floor(rest / 10)
    out[to] = 0x30 + rest - tenth * 10
    rest = tenth
  }
}

/** Big-endian; cheaper than readUInt32BE, whose checks are not needed here. */
export function readUint32(bytes: Buffer, at: number): number {
  return (
    (((bytes[at] ?? 0) << 24) | ((bytes[at + 1] ?? 0) << 16) | ((bytes[at + 2] ?? 0) << 8) | (bytes[at + 3] ?? 0)) >>> 0
  )
}

function writeUint32(out: Buffer, at: number, value: number): void {
  out[at] = value >>> 24
  out[at + 1] = value >>> 16
  out[at + 2] = value >>> 8
  out[at + 3] = value
}

function afterString(bytes: Buffer, at: number): number {
  let to = at
  while (bytes[to] !== 0) {
    if (to >= bytes.length) throw new Error('a C-octet string has no end')
    to += 1
  }
  return to + 1
}

// For short runs a loop is cheaper than a call of Buffer.copy.
function copy(from: Buffer, start: number, end: number, out: Buffer, at: number): number {
  let to = at
  for (let index = start; index < end; index++) out[to++] = from[index] ?? 0
  return to
}
