/** Cells that hold more than a number: several numbers, an extension, words. Two numbers never become one, and a number is never cut short. */
import { codeLengthOf } from './plan.ts'
import { isOfPeople } from './type.ts'

/** The cut of a cell: into whole numbers, or into a number and a rest that is not one. */
export type Cut = { kind: 'numbers'; numbers: string[] } | { kind: 'rest'; number: string; detail: string }

// Separates two numbers. A slash or a comma may also be inside one number; the parts decide.
const separator = /:{2,}|[;,|&/／\n\r]|\s(?:or|and|oder|und|ou|et|y|o|e|или|и)\s|\s*(?=(?<=[\p{Nd})].*)[+＋])/giu
// A group of digits that begins with 00 may begin a second number or continue the first.
const doubleZero = /\s+(?=00[1-9])/gu
const blank = /(?<=\p{Nd})\s+(?=[\p{Nd}(])/gu
const extension =
  /\s*[,;:/(-]*\s*(?:extension|extn|ext|x|#|int|interno|anexo|ramal|poste|durchwahl|dw|nst|доб)[\s.:=]*\d{1,7}\)?\s*$/iu
const number = /[+＋]?[\p{Nd}(][\p{Nd}\p{Zs}\p{Pd}()./／]*\p{Nd}/u
// A shorter part is an area code before a slash, or the end of a number behind one.
const digitsMin = 7
// With the country code. Fewer digits before an ending are more likely the first half of a number.
const endedDigitsMin = 9

const cuts = {
  extension: 'has an extension: a text message can only go to the number without it',
  more: 'has a number and something that is not a second number',
  words: 'must contain only a number',
} as const

/** Whether the fault is about a cell with a number and something else. */
export const isCut = (detail: string): boolean => Object.values<string>(cuts).some((cut) => detail.startsWith(cut))

/**
 * Null if the cell is one number, or none. `numberOf` reads a text that should be one number. Numbers in personal ranges go first: the whole text if
 * it is one, however it is grouped; then a cut into such parts; then any possible numbers.
 */
export function findCut(text: string, numberOf: (text: string) => string | null): Cut | null {
  const partOf = (part: string): string | null => (countDigits(part) >= digitsMin ? numberOf(part.trim()) : null)
  const ended = extension.exec(text)
  const before = ended && partOf(text.slice(0, ended.index))
  if (ended && before !== null) return rest(before, cuts.extension)
  const whole = numberOf(text)
  if (whole !== null && isPeoples(whole)) return null
  const ofPeople = (part: string): string | null => {
    const read = partOf(part)
    return read !== null && isPeoples(read) ? read : null
  }
  const cut = cutParts(text, ofPeople) ?? cutRest(text, doubleZero, ofPeople) ?? cutRest(text, separator, ofPeople)
  if (cut) return cut
  if (whole !== null) return cutEnding(text, partOf)
  const found = number.exec(text)?.[0]
  const only = found !== undefined && found !== text ? partOf(found) : null
  return cutParts(text, partOf) ?? cutRest(text, separator, partOf) ?? (only === null ? null : rest(only, cuts.words))
}

function cutParts(text: string, partOf: (part: string) => string | null): Cut | null {
  const marks = [separator, doubleZero, blank].flatMap((one) => [...text.matchAll(one)])
  for (const { index, 0: mark } of marks) {
    const first = partOf(text.slice(0, index))
    const behind = text.slice(index + mark.length).trim()
    if (first === null) continue
    if (behind === '') return { kind: 'numbers', numbers: [first] }
    const second = partOf(behind)
    const others = second === null ? cutParts(behind, partOf) : { kind: 'numbers' as const, numbers: [second] }
    if (others?.kind === 'numbers') return { kind: 'numbers', numbers: [first, ...others.numbers] }
  }
  return null
}

function cutRest(text: string, mark: RegExp, partOf: (part: string) => string | null): Cut | null {
  for (const { index } of text.matchAll(mark)) {
    const first = partOf(text.slice(0, index))
    if (first !== null) return rest(first, cuts.more)
  }
  return null
}

/** Cuts off the last digits of a second number, as in 030 1234567/68, because they may also be digits of the first. */
function cutEnding(text: string, partOf: (part: string) => string | null): Cut | null {
  const ending = /[/／]\s*\p{Nd}{1,2}$/u.exec(text)
  const first = ending && partOf(text.slice(0, ending.index))
  return first === null || countDigits(first) < endedDigitsMin ? null : rest(first, cuts.more)
}

const isPeoples = (found: string): boolean => isOfPeople(found.slice(0, codeLengthOf(found)), found)

const rest = (found: string, detail: string): Cut => ({ kind: 'rest', number: found, detail })

const countDigits = (text: string): number => text.match(/\p{Nd}/gu)?.length ?? 0
