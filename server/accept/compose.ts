/** Canonical composition: é is one character, however it was typed. */

// Below U+0300 nothing combines: most texts are not looked at twice.
const mayCombine = /[\u0300-\uffff]/
// A letter with its marks, a syllable of Hangul in its parts, and the signs that are letters or units of their own only by name (Å, Ω, K).
const combined = /\P{M}\p{M}+|[\u1100-\u1112][\u1161-\u1175][\u11a8-\u11c2]?|[\u2126\u212a\u212b]/gu

/**
 * A text with its letters composed (NFC): files of macOS and some keyboards have é as e and an accent, for which GSM-7 has no place. What NFC
 * would make longer stays as it is, such as letters of Devanagari and Hebrew that it takes apart.
 */
export function compose(text: string): string {
  if (!mayCombine.test(text)) return text
  return text.replace(combined, (letter) => {
    const one = letter.normalize('NFC')
    return one.length <= letter.length ? one : letter
  })
}
