import { PduError } from './pdu.ts'
import { ESME, type StatusName } from './status.ts'

export type Value = number | string | Uint8Array | undefined

export const NO_OCTETS: Buffer = Buffer.alloc(0)

/** Up to this length a loop costs less than a call out of V8. */
const LOOPED_OCTETS_MAX = 16

/** Texts up to this length are built without a call out of V8, at half the cost: E.164, an absolute time, most message ids. */
const SHORT_TEXT_OCTETS = 16

export function readUint16(bytes: Buffer, at: number): number {
  return ((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0)
}

export function readUint32(bytes: Buffer, at: number): number {
  return readUint16(bytes, at) * 0x10000 + readUint16(bytes, at + 2)
}

/** First NUL in bytes[at, limit), else `limit`. The texts are too short for a call out of V8 to pay. */
export function findNul(bytes: Buffer, at: number, limit: number): number {
  let nul = at
  while (nul < limit && bytes[nul] !== 0) nul++
  return nul
}

export function readText(bytes: Buffer, at: number, end: number): string {
  const octets = end - at
  if (octets === 0) return ''
  if (octets > SHORT_TEXT_OCTETS || at + SHORT_TEXT_OCTETS > bytes.length) return bytes.toString('latin1', at, end)
  // A call with a fixed number of arguments is one allocation; the excess is cut off.
  const text = String.fromCharCode(
    bytes[at] ?? 0,
    bytes[at + 1] ?? 0,
    bytes[at + 2] ?? 0,
    bytes[at + 3] ?? 0,
    bytes[at + 4] ?? 0,
    bytes[at + 5] ?? 0,
    bytes[at + 6] ?? 0,
    bytes[at + 7] ?? 0,
    bytes[at + 8] ?? 0,
    bytes[at + 9] ?? 0,
    bytes[at + 10] ?? 0,
    bytes[at + 11] ?? 0,
    bytes[at + 12] ?? 0,
    bytes[at + 13] ?? 0,
    bytes[at + 14] ?? 0,
    bytes[at + 15] ?? 0,
  )
  return octets === SHORT_TEXT_OCTETS ? text : text.substring(0, octets)
}

/** Writes Latin-1 and a NUL; returns the end. Throws PduError if it does not fit into `octetsMax`. */
export function writeText(
  bytes: Buffer,
  at: number,
  name: string,
  status: StatusName,
  text: Value,
  octetsMax: number,
): number {
  if (typeof text !== 'string') throw new PduError(ESME[status], `${name} is no text`)
  const { length } = text
  if (length >= octetsMax) throw new PduError(ESME[status], `${name} is longer than ${octetsMax - 1} octets`)
  for (let i = 0; i < length; i++) {
    const code = text.charCodeAt(i)
    // A NUL would end the field early, and a wider character would change. One comparison covers both.
    if ((code - 1) >>> 0 > 0xfe) throw new PduError(ESME[status], `${name} has a character that is no octet`)
    bytes[at + i] = code
  }
  bytes[at + length] = 0
  return at + length + 1
}

export function writeOctets(bytes: Buffer, at: number, octets: Uint8Array): number {
  const { length } = octets
  if (length > LOOPED_OCTETS_MAX) bytes.set(octets, at)
  else for (let i = 0; i < length; i++) bytes[at + i] = octets[i] ?? 0
  return at + length
}

export function writeUint16(bytes: Buffer, at: number, integer: number): void {
  bytes[at] = integer >>> 8
  bytes[at + 1] = integer
}

export function writeUint32(bytes: Buffer, at: number, integer: number): void {
  bytes[at] = integer >>> 24
  bytes[at + 1] = integer >>> 16
  bytes[at + 2] = integer >>> 8
  bytes[at + 3] = integer
}

/** Writes the header of the PDU in bytes[start, end). SMPP 3.4 §3.2. */
export function writeHeader(
  bytes: Buffer,
  start: number,
  end: number,
  id: number,
  command_status: number,
  sequence_number: number,
): void {
  writeUint32(bytes, start, end - start)
  writeUint32(bytes, start + 4, id)
  writeUint32(bytes, start + 8, command_status)
  writeUint32(bytes, start + 12, sequence_number)
}

/** Checks for an integer from 0 to `max`; else throws PduError. */
export function checkInteger(name: string, status: StatusName, integer: Value, max: number): number {
  if (typeof integer !== 'number' || !(integer >= 0 && integer <= max) || !Number.isInteger(integer)) {
    throw new PduError(ESME[status], `${name} is no integer from 0 to ${max}`)
  }
  return integer
}

/** Checks for at most `max` octets; else throws PduError. */
export function checkOctets(name: string, status: StatusName, octets: Value, max: number): Uint8Array {
  if (!(octets instanceof Uint8Array)) throw new PduError(ESME[status], `${name} is no octets`)
  if (octets.length > max) throw new PduError(ESME[status], `${name} is longer than ${max} octets`)
  return octets
}

export function pduErrorAt(bytes: Buffer, start: number, status: number, message: string): PduError {
  const id = readUint32(bytes, start + 4)
  return new PduError(status, message, id, readUint32(bytes, start + 12), readUint32(bytes, start + 8))
}
