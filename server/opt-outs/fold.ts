/**
 * Normalizes a reply for comparison: case, accents, width, surrounding punctuation and hyphens do not matter, nor do invisible characters, such as
 * the direction marks that phones put around Arabic and Hebrew.
 */
export function foldWord(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/[\p{Mn}\p{Cf}]/gu, '')
    .replace(/[\s\p{P}\p{S}\p{Cc}]+/gu, ' ')
    .trim()
    .toUpperCase()
}
