import { gsm7Length } from './alphabet.ts'
import { countSegments } from './count.ts'

export type SmartReplacement = {
  character: string
  /** As in `U+2019`; includes combining marks of a letter. */
  codePoint: string
  /** '' if it was removed. */
  replacement: string
  count: number
}

export type SmartText = { text: string; replaced: SmartReplacement[] }

/**
 * Typographic signs of word processors, with their GSM-7 equivalents. Only signs with the same meaning: no letter loses its accent, and no symbol
 * becomes a word.
 */
const REPLACEMENTS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    "'": '`´‘’‚‛′‵ʹʻʼʽˈ＇',
    '"': '“”„‟″‶«»ʺ＂',
    '-': '‐‑‒–—―−﹘﹣－⁃',
    '<': '‹',
    '>': '›',
    '/': '⁄∕',
    '*': '•‣∙●',
    '~': '∼˜',
    '^': 'ˆ',
    '...': '…',
    '..': '‥',
    // Tab, no-break space and spaces of all widths.
    ' ': '\t\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000',
    // Vertical tab, next line, line and paragraph separator.
    '\n': '\u000b\u0085\u2028\u2029',
    // Soft hyphen, zero-width space, joiners, direction marks, word joiner, variation selectors, byte order mark.
    '': '\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\ufe0e\ufe0f\ufeff',
  }).flatMap(([replacement, characters]) => Array.from(characters, (character) => [character, replacement] as const)),
)

const MARKED = /\P{M}\p{M}+|[^]/gu

/**
 * Smart encoding: replaces typographic characters by GSM-7 equivalents, and letters with combining marks by the composed letter (NFC), if this
 * brings the whole text into GSM-7. Other texts stay unchanged. Never increases the number of segments.
 */
export function smart(text: string): SmartText {
  if (gsm7Length(text) >= 0) return { text, replaced: [] }
  const replaced = new Map<string, SmartReplacement>()
  const better = text.replaceAll(MARKED, (character) => {
    if (gsm7Length(character) >= 0) return character
    const replacement = replacementOf(character)
    if (replacement !== character) note(replaced, character, replacement)
    return replacement
  })
  // Some replacements are longer: seventy ellipses are one segment of UCS-2 and two of GSM-7.
  const isBetter = gsm7Length(better) >= 0 && countSegments(better).segments <= countSegments(text).segments
  return isBetter ? { text: better, replaced: [...replaced.values()] } : { text, replaced: [] }
}

/** The GSM-7 equivalent of a character with its marks; itself if there is none. */
export function replacementOf(character: string): string {
  const composed = character.normalize('NFC')
  return gsm7Length(composed) >= 0 ? composed : Array.from(composed, (one) => REPLACEMENTS.get(one) ?? one).join('')
}

function note(replaced: Map<string, SmartReplacement>, character: string, replacement: string): void {
  const seen = replaced.get(character)
  if (seen) seen.count++
  else replaced.set(character, { character, codePoint: nameOf(character), replacement, count: 1 })
}

function nameOf(character: string): string {
  return Array.from(
    character,
    (one) => `U+${(one.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`,
  ).join(' ')
}
