/** Time zones by the longest matching prefix of a number. */
import { isTimezone } from '../ground/base/timezone.ts'
import { placeRows, zoneRows } from './zone-plans.ts'

/** The longest prefix; nine digits fit 32 bits. */
const digits = 9

/** By country, which numbers have a place; null: all. */
const places = new Map(
  placeRows.split('\n').map((row) => {
    const [country = '', code, pattern] = row.split(' ')
    return [country, pattern ? new RegExp(`^${code}(?:${pattern})$`) : null]
  }),
)

interface ZoneSet {
  names: string
  /** Zones that the runtime knows, on first use because checking a name is slow. Null: none. */
  zones?: readonly string[] | null
}

const sets: ZoneSet[] = []
const { starts, setAt } = flatten()

/**
 * The time zones (IANA) of a number's place, for a result of `readNumber` in the country; null if unknown. Numbers of one place share an
 * array.
 */
export function zonesOfPlace(country: string, number: string): readonly string[] | null {
  const place = places.get(country)
  if (place === undefined || (place !== null && !place.test(number))) return null
  const set = sets[setAt[spanOf(headOf(number))] ?? -1]
  if (!set) return null
  if (set.zones === undefined) {
    const known = set.names.split('&').filter(isTimezone)
    set.zones = known.length > 0 ? known : null
  }
  return set.zones
}

/** The first digits as a number, padded with zeros. */
function headOf(number: string): number {
  let head = 0
  for (let at = 0; at < digits; at++) head = head * 10 + (at < number.length ? number.charCodeAt(at) - 48 : 0)
  return head
}

/** The last span that starts at or before a head, or -1. */
function spanOf(head: number): number {
  let [low, high] = [0, starts.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((starts[middle] ?? 0) <= head) low = middle + 1
    else high = middle
  }
  return low - 1
}

/** Flattens nested prefixes into adjacent spans: a few KB, searched as a sorted list. Each span ends at the next; 65535 means none. */
function flatten(): { starts: Uint32Array; setAt: Uint16Array } {
  const none = 0xffff
  const spans = zoneRows.split('\n').flatMap((row) => {
    const [names = '', ...prefixes] = row.split(' ')
    const set = names === '-' ? none : sets.push({ names }) - 1
    return prefixes.map((prefix) => {
      const span = 10 ** (digits - prefix.length)
      return { from: Number(prefix) * span, to: (Number(prefix) + 1) * span, set }
    })
  })
  spans.sort((a, b) => a.from - b.from || b.to - a.to)
  const [from, set]: [number[], number[]] = [[], []]
  const put = (at: number, what: number): void => {
    const last = from.length - 1
    if (from[last] === at) set[last] = what
    else set[from.push(at) - 1] = what
  }
  const around: typeof spans = []
  const leave = (before: number): void => {
    for (let inner = around.at(-1); inner && inner.to <= before; inner = around.at(-1)) {
      around.pop()
      put(inner.to, around.at(-1)?.set ?? none)
    }
  }
  for (const span of spans) {
    leave(span.from)
    put(span.from, span.set)
    around.push(span)
  }
  leave(Infinity)
  return { starts: Uint32Array.from(from), setAt: Uint16Array.from(set) }
}
