/** Cells with more in them than a number: several numbers, an extension, words. Two numbers never become one. */

/** Where a cell is cut: into whole numbers, or into a number and what is no number. */
export type Cut = { kind: 'numbers'; numbers: string[] } | { kind: 'rest'; number: string; detail: string }

// What may be between two numbers, or before an extension. A slash or a comma is also punctuation within one: the number before it decides.
const separator =
  /:{2,}|[;,|&/／\n\r]|\s(?:or|and|oder|und|ou|et|y|o|e|или|и)\s|\s+(?=00[1-9])|\s*(?=(?<=[\p{Nd})].*)[+＋])/giu
const extension =
  /\s*[,;:/(-]*\s*(?:extension|extn|ext|x|#|int|interno|anexo|ramal|poste|durchwahl|dw|nst|доб)[\s.:=]*\d{1,7}\)?\s*$/iu
const number = /[+＋]?[\p{Nd}(][\p{Nd}\p{Zs}\p{Pd}().]*\p{Nd}/u
// A part with fewer digits is an area code before a slash, or the end of a number behind one.
const digitsMin = 7

const cuts = {
  extension: 'has an extension: a text message can only go to the number without it',
  more: 'has a number and something that is not a second number',
  words: 'must contain only a number',
} as const

/** Says of a fault that its cells have a number and something else. */
export const isCut = (detail: string): boolean => Object.values<string>(cuts).some((cut) => detail.startsWith(cut))

/** Where a cell must be cut; null: it is one number, or none. `numberOf` reads a text that should be one number. */
export function findCut(text: string, numberOf: (text: string) => string | null): Cut | null {
  const whole = (part: string): string | null => (countDigits(part) >= digitsMin ? numberOf(part.trim()) : null)
  const ended = extension.exec(text)
  const before = ended && whole(text.slice(0, ended.index))
  if (ended && before !== null) return rest(before, cuts.extension)
  for (const match of text.matchAll(separator)) {
    const first = whole(text.slice(0, match.index))
    if (first === null) continue
    const behind = text.slice(match.index + match[0].length).trim()
    if (behind === '') return { kind: 'numbers', numbers: [first] }
    const second = findCut(behind, numberOf) ?? whole(behind)
    if (typeof second === 'string') return { kind: 'numbers', numbers: [first, second] }
    if (second?.kind === 'numbers') return { kind: 'numbers', numbers: [first, ...second.numbers] }
    return rest(first, cuts.more)
  }
  return numberOf(text) === null ? cutWords(text, whole) : null
}

/** What has no separator: two numbers with a blank between them, or words around a number. */
function cutWords(text: string, whole: (part: string) => string | null): Cut | null {
  for (const { index } of text.matchAll(/(?<=\p{Nd})\s+(?=[\p{Nd}(])/gu)) {
    const [first, second] = [whole(text.slice(0, index)), whole(text.slice(index))]
    if (first !== null && second !== null) return { kind: 'numbers', numbers: [first, second] }
  }
  const found = number.exec(text)?.[0]
  const only = found !== undefined && found !== text ? whole(found) : null
  return only === null ? null : rest(only, cuts.words)
}

const rest = (found: string, detail: string): Cut => ({ kind: 'rest', number: found, detail })

const countDigits = (text: string): number => text.match(/\p{Nd}/gu)?.length ?? 0
