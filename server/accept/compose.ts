// Below U+0300 nothing combines, so most texts skip the search.
const mayCombine = /[\u0300-\uffff]/
// A letter with its marks, a Hangul syllable in parts, and signs that are letters or units under another code point (Å, Ω, K).
const combined = /\P{M}\p{M}+|[\u1100-\u1112][\u1161-\u1175][\u11a8-\u11c2]?|[\u2126\u212a\u212b]/gu

/** NFC: files of macOS and some keyboards write é as e and an accent, which GSM-7 lacks. Text that NFC would lengthen (Devanagari, Hebrew) stays. */
export function compose(text: string): string {
  if (!mayCombine.test(text)) return text
  return text.replace(combined, (letter) => {
    const one = letter.normalize('NFC')
    return one.length <= letter.length ? one : letter
  })
}
