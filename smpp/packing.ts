const CARRIAGE_RETURN = 0x0d
/** The user data of one short message (3GPP TS 23.040 §9.2.3.16). */
const OCTETS_MAX = 140

/** Bits between a user data header and the first septet, which starts at a multiple of seven bits. */
function fillBits(udhLength: number): number {
  return (7 - ((udhLength * 8) % 7)) % 7
}

/**
 * Packs septets in seven bits each, least significant first (3GPP TS 23.038 §6.1.2.1), for a body after a header of `udhLength` octets. SMPP
 * counts octets, not septets: seven spare bits would read as `@`, so they carry a CR, and a CR that ends on an octet boundary is doubled while
 * there is room (§6.1.2.3.1).
 */
export function packGsm7(septets: Uint8Array, udhLength = 0): Buffer {
  const fill = fillBits(udhLength)
  const bits = fill + septets.length * 7
  const isSpare = bits % 8 === 1
  const isEaten = bits % 8 === 0 && septets.at(-1) === CARRIAGE_RETURN && udhLength + bits / 8 < OCTETS_MAX
  const isPadded = isSpare || isEaten
  const octets = Buffer.alloc(Math.ceil((bits + (isPadded ? 7 : 0)) / 8))
  let bit = fill
  for (const septet of septets) bit = putSeptet(octets, bit, septet)
  if (isPadded) putSeptet(octets, bit, CARRIAGE_RETURN)
  return octets
}

function putSeptet(octets: Buffer, bit: number, septet: number): number {
  const at = bit >> 3
  const shifted = (septet & 0x7f) << (bit & 7)
  octets[at] = (octets[at] ?? 0) | (shifted & 0xff)
  if (shifted > 0xff) octets[at + 1] = shifted >> 8
  return bit + 7
}

/** Unpacks a body after a header of `udhLength` octets. A CR that ends on an octet boundary is padding and dropped. */
export function unpackGsm7(octets: Uint8Array, udhLength = 0): Buffer {
  const fill = fillBits(udhLength)
  const bits = Math.max(0, octets.length * 8 - fill)
  const septets = Buffer.allocUnsafe(Math.floor(bits / 7))
  for (let index = 0; index < septets.length; index++) {
    const bit = fill + index * 7
    const pair = (octets[bit >> 3] ?? 0) | ((octets[(bit >> 3) + 1] ?? 0) << 8)
    septets[index] = (pair >> (bit & 7)) & 0x7f
  }
  const isPadded = bits % 7 === 0 && septets.at(-1) === CARRIAGE_RETURN
  return isPadded ? septets.subarray(0, -1) : septets
}
