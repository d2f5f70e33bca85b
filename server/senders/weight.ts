/** Shares by weight without a counter: every process gives the same answer, and a change of weights moves as little as possible. */

/**
 * Items in the order in which a key prefers them: over many keys, each is first as often as its weight says. Weighted rendezvous hashing
 * (score -ln(u) / weight, the smallest first). A weight of 0 comes last.
 */
export function rankByWeight<T extends { weight: number | null }>(
  items: readonly T[],
  idOf: (item: T) => string,
  key: string,
): T[] {
  if (items.length < 2) return [...items]
  const seed = hashText(key, offsetBasis)
  return items
    .map((item, place) => {
      const weight = item.weight ?? 0
      return { item, place, score: weight > 0 ? -Math.log(toUnit(hashText(idOf(item), seed))) / weight : Infinity }
    })
    .toSorted((a, b) => (a.score === b.score ? a.place - b.place : a.score - b.score))
    .map(({ item }) => item)
}

// FNV-1a of 32 bits: no allocation, and fast for texts as short as ids.
const offsetBasis = 0x811c9dc5
const prime = 0x01000193

function hashText(text: string, seed: number): number {
  let hash = seed
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), prime)
  return hash
}

/** In (0, 1). FNV alone spreads its last characters poorly; the finaliser of MurmurHash3 mixes every bit into all. */
function toUnit(hash: number): number {
  let mixed = hash
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
  return (((mixed ^ (mixed >>> 16)) >>> 0) + 0.5) / 2 ** 32
}
