/** Recognizes non-UTF-8 encodings: the one in which the bytes are words of a language. */
import { multiByte, singleByte, type Alphabet } from './alphabets.ts'

/** One encoding if no other is nearly as good, else the good ones, best first; empty without any. */
export type Recognized = { encoding: string } | { candidates: string[] }

interface Scored {
  encoding: string
  text: string
  score: number
}

// Below it, the text has no words of the encoding's languages.
const goodMin = 0.5
// If another score is this close, the sender must decide.
const marginMin = 0.06

/** Takes lines with non-ASCII bytes, in order. */
export function recognize(bytes: Buffer): Recognized {
  // Quotes, a euro sign or a blank are no evidence.
  const western = decode('windows-1252', bytes)
  if (western !== null && !Array.from(western).some((letter) => letter > '\x7f' && !signs.has(letter)))
    return { encoding: 'windows-1252' }
  const scored: Scored[] = []
  for (const [encoding, alphabets] of Object.entries(singleByte)) {
    const text = decode(encoding, bytes)
    if (text !== null) scored.push({ encoding, text, score: scoreWords(text, alphabets) })
  }
  for (const [encoding, letters] of Object.entries(multiByte)) {
    const text = decode(encoding, bytes)
    if (text !== null) scored.push({ encoding, text, score: scoreLetters(text, letters) })
  }
  // The order of the encodings decides between equals.
  scored.sort((a, b) => b.score - a.score)
  const [best] = scored
  if (!best || best.score < goodMin) return { candidates: [] }
  // Bytes may be the same letters in two encodings.
  const rivals = scored.filter(({ text, score }) => text !== best.text && score > best.score - marginMin)
  if (rivals.length === 0) return { encoding: best.encoding }
  const all = [best, ...rivals]
  // Most such files are ASCII with an occasional Western European letter.
  const usual = all.find(({ encoding }) => encoding === 'windows-1252')
  if (usual && !hasRareLetters(usual.text)) return { encoding: usual.encoding }
  return { candidates: all.map(({ encoding }) => encoding) }
}

/** Null if the bytes are invalid in the encoding. */
function decode(encoding: string, bytes: Buffer): string | null {
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes)
  } catch {
    return null
  }
}

// Icelandic letters at the places of Turkish ones.
const hasRareLetters = (text: string): boolean => /[ðþýÐÞÝ]/.test(text)

/** The share of non-ASCII words that belong to one of the alphabets, weighted by how common their letters are; from 0 to 1. */
function scoreWords(text: string, alphabets: readonly Alphabet[]): number {
  const words = text.match(/[\p{L}\p{M}\u0080-\u009f\p{S}¡-¿]*[^\p{ASCII}\s][\p{L}\p{M}\p{S}\u0080-\uffff]*/gu) ?? []
  if (words.length === 0) return 0
  return Math.max(...alphabets.map((alphabet) => scoreIn(words, alphabet)))
}

function scoreIn(
  words: readonly string[],
  { letters, lacks = '', isOwnScript = false, stressed = '' }: Alphabet,
): number {
  const rank = ranksOf(letters)
  let whole = 0
  let commonness = 0
  let count = 0
  for (const word of words) {
    const lower = word.toLowerCase()
    const foreign = Array.from(lower).filter((letter) => letter > '\x7f' && !signs.has(letter))
    if (foreign.length === 0) {
      // A euro sign, or typographic quotes.
      whole += 0.5
      continue
    }
    const isKnown = foreign.every((letter) => rank.has(letter))
    const isOne = isOwnScript ? !/[a-z]/.test(lower) : !hasAny(lower, lacks)
    const isFew = isOwnScript || !/\P{ASCII}{3}/u.test(lower)
    const isStressed = stressed === '' || word.slice(1) !== lower.slice(1) || hasAny(lower, stressed)
    if (isKnown && isOne && isFew && (isStressed || lower.length < 4) && hasOneCase(word)) whole++
    for (const letter of foreign) {
      count++
      commonness += 1 - (rank.get(letter) ?? letters.length) / letters.length
    }
  }
  const isWord = whole / words.length
  const isCommon = count === 0 ? 0.5 : commonness / count
  return isOwnScript ? isWord * (0.3 + 0.7 * isCommon) : isWord * (0.85 + 0.1 * isCommon)
}

const hasAny = (text: string, letters: string): boolean => Array.from(letters).some((letter) => text.includes(letter))

const signs = new Set('€‚„…‘’“”•–—™©®°«»¿¡№§·\u00a0')

/** Lower case, capitalized, or upper case: a mixture was decoded with the wrong table. */
function hasOneCase(word: string): boolean {
  return (
    !/\p{Ll}[^\p{ASCII}\P{Lu}]|[^\p{ASCII}\P{Ll}]\p{Lu}/u.test(word) &&
    !/^\p{L}\p{Lu}+\p{Ll}|^.+\p{Lu}\p{Ll}/u.test(mixed(word))
  )
}

// McDonald and DeLuca have their second capital in ASCII.
const mixed = (word: string): string => word.replace(/[A-Z]/g, 'a')

/** The share of common ones among non-ASCII letters. */
function scoreLetters(text: string, common: ReadonlySet<string>): number {
  let known = 0
  let count = 0
  for (const letter of text) {
    if (letter <= '\x7f' || /[\p{P}\p{Z}]/u.test(letter)) continue
    count++
    if (common.has(letter)) known++
  }
  // Names have rare letters: half is as certain as a text can be.
  return count === 0 ? 0 : Math.min(1, 0.25 + known / count)
}

const ranks = new Map<string, ReadonlyMap<string, number>>()

function ranksOf(letters: string): ReadonlyMap<string, number> {
  let known = ranks.get(letters)
  if (!known) ranks.set(letters, (known = new Map(Array.from(letters).map((letter, at) => [letter, at]))))
  return known
}
