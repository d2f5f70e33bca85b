/** What a text needs: segments, and the characters that cost more of them, with what to write instead. */
import {
  countSegments,
  gsm7Length,
  replacementOf,
  roomLeft,
  smart,
  type EncodingChoice,
  type SegmentCount,
} from '@heliogram/smpp/text.ts'

export interface Measure extends SegmentCount {
  /** Characters that the last segment still takes. */
  left: number
}

export function measure(text: string, encoding: EncodingChoice = 'auto'): Measure {
  // The API refuses other characters with `gsm7`; the count shows why.
  const count = countSegments(text, { encoding: encoding === 'gsm7' ? 'auto' : encoding })
  return { ...count, left: roomLeft(text, count) }
}

/** A piece of a text, cut at the characters that force UCS-2. */
export interface Piece {
  text: string
  isCulprit: boolean
}

export interface Review {
  pieces: Piece[]
  /** Writing systems without a place in GSM-7, such as `Arabic`. */
  scripts: string[]
  /** Characters that nothing replaces, once each. */
  others: string[]
  swaps: { character: string; replacement: string }[]
  /** The text with all replacements, and its count; null if it would still need UCS-2. */
  better: { text: string; segments: number } | null
}

const scripts = [
  'Arabic',
  'Armenian',
  'Bengali',
  'Cyrillic',
  'Devanagari',
  'Ethiopic',
  'Georgian',
  'Greek',
  'Gujarati',
  'Gurmukhi',
  'Han',
  'Hangul',
  'Hebrew',
  'Hiragana',
  'Kannada',
  'Katakana',
  'Khmer',
  'Lao',
  'Malayalam',
  'Myanmar',
  'Sinhala',
  'Tamil',
  'Telugu',
  'Thai',
] as const
const scriptNames: Partial<Record<string, string>> = { Han: 'Chinese', Hangul: 'Korean' }
const patterns = scripts.map((name) => [scriptNames[name] ?? name, new RegExp(`\\p{Script=${name}}`, 'u')] as const)
const clusters = new Intl.Segmenter('en', { granularity: 'grapheme' })

const canEncode = (text: string): boolean => gsm7Length(text) >= 0

export function reviewText(text: string): Review {
  const pieces: Piece[] = []
  const found = new Set<string>()
  for (const { segment } of clusters.segment(text)) {
    const isCulprit = !canEncode(segment)
    if (isCulprit) found.add(segment)
    const last = pieces.at(-1)
    if (last?.isCulprit === isCulprit) last.text += segment
    else pieces.push({ text: segment, isCulprit })
  }
  const swaps = [...found]
    .map((character) => ({ character, replacement: replacementOf(character) }))
    .filter(({ replacement }) => canEncode(replacement))
  const rest = [...found].filter((character) => !canEncode(replacementOf(character)))
  const systems = patterns.filter(([, pattern]) => rest.some((one) => pattern.test(one)))
  const { text: replaced } = smart(text)
  return {
    pieces,
    scripts: systems.map(([name]) => name),
    others: rest.filter((character) => !systems.some(([, pattern]) => pattern.test(character))),
    swaps,
    better: replaced === text ? null : { text: replaced, segments: countSegments(replaced).segments },
  }
}

const names: Record<string, string> = {
  ' ': 'a space',
  '\n': 'a line break',
  '\t': 'tab',
  '\u00a0': 'no-break space',
  '\u202f': 'narrow no-break space',
  '\u200b': 'zero-width space',
  '\u00ad': 'soft hyphen',
}

/** A character for people; invisible ones by name. */
export const tellCharacter = (character: string): string =>
  names[character] ??
  (/^[\p{L}\p{N}\p{P}\p{S}]/u.test(character)
    ? character
    : `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`)
