import type { NationalShift } from './shift.ts'

/** Marks a segment as part of a longer text. References of different kinds are distinct: the kind belongs to the key. */
export type Concatenation = {
  kind: 'udh8' | 'udh16' | 'sar'
  reference: number
  /** 1 to 255. */
  total: number
  /** 1 to total. */
  part: number
}

/** A user data header (3GPP TS 23.040 §9.2.3.24). */
export type UserDataHeader = {
  /** Octets with the length octet: where the text begins. */
  length: number
  concatenation: Concatenation | null
  shift: NationalShift
}

const CONCATENATION_8 = 0x00
const CONCATENATION_16 = 0x08
const SINGLE_SHIFT = 0x24
const LOCKING_SHIFT = 0x25

/** A header with one concatenation element: 6 octets, or 7 with a 16-bit reference. The reference is cut to its size. */
export function writeConcatenation(concatenation: Concatenation): Buffer {
  const { kind, reference, total, part } = concatenation
  return kind === 'udh8'
    ? Buffer.from([5, CONCATENATION_8, 3, reference & 0xff, total, part])
    : Buffer.from([6, CONCATENATION_16, 4, (reference >> 8) & 0xff, reference & 0xff, total, part])
}

/**
 * Reads the header of user data; null if its lengths do not add up, so that the octets are text. Elements may be in any order, unknown ones are
 * skipped, the last of two counts, and a concatenation whose part is 0 or above the total is ignored (3GPP TS 23.040 §9.2.3.24.1).
 */
export function readUserDataHeader(octets: Uint8Array): UserDataHeader | null {
  const length = 1 + (octets[0] ?? 0)
  if (octets.length < length) return null
  const header: UserDataHeader = { length, concatenation: null, shift: {} }
  for (let at = 1; at < length;) {
    const [id, size] = [octets[at], octets[at + 1] ?? 0]
    if (at + 2 + size > length) return null
    readElement(header, id, octets.subarray(at + 2, at + 2 + size))
    at += 2 + size
  }
  return header
}

function readElement(header: UserDataHeader, id: number | undefined, data: Uint8Array): void {
  const [a = 0, b = 0, c = 0, d = 0] = data
  if (id === CONCATENATION_8 && data.length === 3) {
    header.concatenation = toConcatenation('udh8', a, b, c) ?? header.concatenation
  } else if (id === CONCATENATION_16 && data.length === 4) {
    header.concatenation = toConcatenation('udh16', (a << 8) | b, c, d) ?? header.concatenation
  } else if (id === SINGLE_SHIFT && data.length === 1) {
    header.shift.single = a
  } else if (id === LOCKING_SHIFT && data.length === 1) {
    header.shift.locking = a
  }
}

/** Null if the numbers are invalid. A reference with too many octets stays a signed 32-bit number. */
export function toConcatenation(
  kind: Concatenation['kind'],
  reference: number,
  total: number,
  part: number,
): Concatenation | null {
  return part >= 1 && part <= total && total <= 255 ? { kind, reference: reference | 0, total, part } : null
}
