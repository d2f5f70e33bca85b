// Cluster rules of Unicode 10, as the calculators of the big gateways use. Later rules (and Intl.Segmenter) also keep newer emoji sequences and
// Indic conjuncts together, which changes segment counts and gains nothing: handsets join segments before they draw.

const OTHER = 0
const CONTROL = 1
const EXTEND = 2
/** Extends the cluster like EXTEND, but ends the search for an emoji base. */
const MARK = 3
const PREPEND = 4
const REGIONAL = 5
const ZWJ = 6
const MODIFIER = 7
const BASE = 8
const GLUE = 9
const BASE_GLUE = 10
const HANGUL_L = 11
const HANGUL_V = 12
const HANGUL_T = 13
const HANGUL_LV = 14
const HANGUL_LVT = 15

/** Code points of E_Base and Glue_After_Zwj; E_Base_GAZ, four of the family, is in both. */
const BASES = rangesOf(
  '261d 26f9 270a-270d 1f385 1f3c2-1f3c4 1f3c7 1f3ca-1f3cc 1f442-1f443 1f446-1f450 1f466-1f469 1f46e 1f470-1f478 ' +
    '1f47c 1f481-1f483 1f485-1f487 1f4aa 1f574-1f575 1f57a 1f590 1f595-1f596 1f645-1f647 1f64b-1f64f 1f6a3 ' +
    '1f6b4-1f6b6 1f6c0 1f6cc 1f918-1f91c 1f91e-1f91f 1f926 1f930-1f939 1f93d-1f93e 1f9d1-1f9dd',
)
const GLUES = rangesOf(
  '2640 2642 2695-2696 2708 2764 1f308 1f33e 1f373 1f393 1f3a4 1f3a8 1f3eb 1f3ed 1f466-1f469 1f48b 1f4bb-1f4bc ' +
    '1f527 1f52c 1f5e8 1f680 1f692',
)
const PREPENDS = rangesOf('600-605 6dd 70f 8e2 d4e 110bd 111c2-111c3 11a3a 11a86-11a89 11d46')
/** Not combining by general category, but extending by UAX #29 table 2. */
const MARKS = rangesOf('e33 eb3 1cf2-1cf3')
/** Spacing marks by general category that do not extend by UAX #29 table 2. */
const ALONE = rangesOf('102b-102c 1038 1062-1064 1067-106d 1083 1087-108c 108f 109a-109c 1a61 1a63-1a64 aa7b aa7d')

type Ranges = readonly (readonly [number, number])[]

function rangesOf(list: string): Ranges {
  return list.split(' ').map((range) => {
    const [first = '', last = first] = range.split('-')
    return [Number.parseInt(first, 16), Number.parseInt(last, 16)]
  })
}

function isIn(ranges: Ranges, point: number): boolean {
  return ranges.some(([first, last]) => point >= first && point <= last)
}

/** Class plus one of each code point seen; planes 0 and 1 hold all that matters but tags and selectors. */
const seen = new Uint8Array(0x20000)

function classOf(point: number): number {
  const known = seen[point]
  if (known !== undefined && known > 0) return known - 1
  const kind = classify(point)
  if (point < seen.length) seen[point] = kind + 1
  return kind
}

function classify(point: number): number {
  if (point === 0x200d) return ZWJ
  if (point >= 0x1f1e6 && point <= 0x1f1ff) return REGIONAL
  if (point >= 0x1f3fb && point <= 0x1f3ff) return MODIFIER
  if (isIn(PREPENDS, point)) return PREPEND
  if (isIn(BASES, point)) return isIn(GLUES, point) ? BASE_GLUE : BASE
  if (isIn(GLUES, point)) return GLUE
  if (isIn(ALONE, point)) return OTHER
  if ((point >= 0x1100 && point <= 0x115f) || (point >= 0xa960 && point <= 0xa97c)) return HANGUL_L
  if ((point >= 0x1160 && point <= 0x11a7) || (point >= 0xd7b0 && point <= 0xd7c6)) return HANGUL_V
  if ((point >= 0x11a8 && point <= 0x11ff) || (point >= 0xd7cb && point <= 0xd7fb)) return HANGUL_T
  if (point >= 0xac00 && point <= 0xd7a3) return (point - 0xac00) % 28 === 0 ? HANGUL_LV : HANGUL_LVT
  const character = String.fromCodePoint(point)
  if (/^\p{Grapheme_Extend}$/u.test(character)) return EXTEND
  if (/^\p{Mc}$/u.test(character) || isIn(MARKS, point)) return MARK
  return /^[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]$/u.test(character) ? CONTROL : OTHER
}

function pointBefore(text: string, at: number): number {
  const isPair = at > 1 && isPairSplit(text, at - 1)
  return (isPair ? text.codePointAt(at - 2) : text.charCodeAt(at - 1)) ?? 0
}

export function isPairSplit(text: string, at: number): boolean {
  return (text.charCodeAt(at) & 0xfc00) === 0xdc00 && (text.charCodeAt(at - 1) & 0xfc00) === 0xd800
}

/**
 * Whether a cut at `at`, which must not split a surrogate pair, would split a grapheme cluster. `from`, the start of an earlier cluster, limits
 * the search backwards. CR LF may be cut.
 */
export function isClusterSplit(text: string, at: number, from: number): boolean {
  const after = text.codePointAt(at) ?? 0
  // Fast path: below the first combining mark and in the ideographs nothing joins.
  if (after < 0x300 && after !== 0xad) return classOf(pointBefore(text, at)) === PREPEND && classOf(after) !== CONTROL
  const [left, right] = [classOf(pointBefore(text, at)), classOf(after)]
  if (left === CONTROL || right === CONTROL) return false
  if (right === EXTEND || right === MARK || right === ZWJ || left === PREPEND) return true
  if (right === MODIFIER) return hasBase(text, at, from)
  if (right === GLUE || right === BASE_GLUE) return left === ZWJ
  if (right === REGIONAL) return left === REGIONAL && countRegionals(text, at, from) % 2 === 1
  if (left === HANGUL_L) return right === HANGUL_L || right === HANGUL_V || right === HANGUL_LV || right === HANGUL_LVT
  if (left === HANGUL_V || left === HANGUL_LV) return right === HANGUL_V || right === HANGUL_T
  return (left === HANGUL_T || left === HANGUL_LVT) && right === HANGUL_T
}

function hasBase(text: string, at: number, from: number): boolean {
  let before = at
  while (before > from) {
    const point = pointBefore(text, before)
    const kind = classOf(point)
    if (kind !== EXTEND) return kind === BASE || kind === BASE_GLUE
    before -= point > 0xffff ? 2 : 1
  }
  return false
}

function countRegionals(text: string, at: number, from: number): number {
  let before = at
  while (before > from && classOf(pointBefore(text, before)) === REGIONAL) before -= 2
  return (at - before) / 2
}
