import { randomFillSync } from 'node:crypto'

/** Counters shared by all recipients: a fixed 128 KiB. */
const COUNTERS = 0x10000

/**
 * Creates concatenation references, 0 to 65,535 (udh8 uses the low eight bits): a sequence per destination from a random start. Random numbers
 * would give two texts in flight to one handset the same 8-bit reference once in 256, and the handset would mix them; a sequence repeats only
 * with 256 in flight. Destinations share counters by hash, which skips numbers but repeats none. Store the number with the message: a retried
 * part needs the same one.
 */
export function createReferences(): (destination: string) => number {
  const counters = randomFillSync(new Uint16Array(COUNTERS))
  return (destination) => {
    const slot = hashOf(destination)
    const reference = counters[slot] ?? 0
    counters[slot] = reference + 1
    return reference
  }
}

/** FNV-1a, folded to 16 bits. */
function hashOf(destination: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < destination.length; at++) {
    hash = Math.imul(hash ^ destination.charCodeAt(at), 0x01000193)
  }
  return ((hash >>> 16) ^ hash) & 0xffff
}
