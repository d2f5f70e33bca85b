/** Detects columns of national numbers without a country. Read with their first digits as a calling code, they would be other people's numbers. */
import { codeLengthOf, plansOf } from './plan.ts'
import { readNumber } from './number.ts'
import { currentForm } from './renumbered.ts'
import { codesOfPeople, isOfPeople } from './type.ts'
import { undoSpreadsheet } from './written.ts'

/** The doubt about a column: digits of these lengths look like national numbers of these calling codes, the likeliest first. */
export interface Doubt {
  lengths: number[]
  codes: string[]
  /** Cells in the sample, and the doubtful ones among them. */
  cells: number
  doubtful: number
}

const bare = /^[1-9]\d{6,14}$/
const cellsMax = 1000
// Of the cells of one length. Nearly all numbers in international lists are in personal ranges; national lists read as international have one in four
// at most (measured for 50 countries).
const peopleMin = 0.5
// Real lists contain some invalid numbers.
const nationalMin = 0.8
// A code that fits less well by more than this is not a rival.
const rivalMargin = 0.1
// This few cells among others are odd numbers, not a list.
const fewCells = 3

/** Decides whether cells without a plus sign are national numbers; null if there is no evidence. */
export function findDoubt(cells: readonly string[]): Doubt | null {
  const step = Math.max(1, Math.floor(cells.length / cellsMax))
  const digits = cells
    .filter((_, at) => at % step === 0)
    .map((cell) => undoSpreadsheet(cell).cleaned)
    .filter((cell) => bare.test(cell))
  const lengths: number[] = []
  const codes = new Map<string, number>()
  let doubtful = 0
  for (const [length, group] of Map.groupBy(digits, (one) => one.length)) {
    if (group.length < fewCells && group.length * 2 < digits.length) continue
    if (group.filter(isTheirs).length >= group.length * peopleMin) continue
    const found = nationalCodesOf(group)
    if (found.length === 0) continue
    lengths.push(length)
    doubtful += group.length
    for (const code of found) codes.set(code, (codes.get(code) ?? 0) + group.length)
  }
  if (lengths.length === 0) return null
  const likeliest = [...codes].toSorted(([, a], [, b]) => b - a).map(([code]) => code)
  return { lengths, codes: likeliest, cells: digits.length, doubtful }
}

// Fewer cells than a sample tell nothing new.
const lastMin = 200

/** Judges a column as it is read: by its first cells, and if they are sound by the last ones, because lists are pasted together. */
export class ColumnDoubt {
  readonly #first: Doubt | null
  #last: string[] = []

  constructor(first: Doubt | null) {
    this.#first = first
  }

  /** The doubt about the next cells. */
  about(cells: readonly string[]): Doubt | null {
    if (this.#first || cells.length === 0) return this.#first
    this.#last = [...this.#last, ...cells].slice(-Math.max(lastMin, cells.length))
    return this.#last.length < lastMin ? null : findDoubt(this.#last)
  }
}

/**
 * Whether digits of a doubtful column are refused. They are not if they are in a personal range of the code that they begin with, and in none as
 * national numbers of `codes`.
 */
export const isInDoubt = (digits: string, { lengths, codes }: Doubt): boolean =>
  bare.test(digits) &&
  lengths.includes(digits.length) &&
  !(isTheirs(digits) && !codes.some((code) => isNational(code, digits)))

/** Countries that the national numbers may belong to (ISO 3166-1 alpha-2). */
export const countriesOf = ({ codes }: Doubt): string[] =>
  codes.slice(0, 3).flatMap((code) => plansOf(code)[0]?.country ?? [])

/** Whether the digits are in a personal range of the calling code that they begin with. */
function isTheirs(digits: string): boolean {
  const read = readNumber(digits)
  return 'number' in read && isPeoples(read.number.slice(0, codeLengthOf(read.number)), read.number)
}

const isNational = (code: string, digits: string): boolean => isPeoples(code, currentForm(code, code + digits, true))

// 555 is unassigned, but common in examples.
const isPeoples = (code: string, number: string): boolean => isOfPeople(code, number) || number.startsWith('1555')

/** The calling codes that fit the cells as national numbers, the likeliest first, with others that fit nearly as well. */
function nationalCodesOf(cells: readonly string[]): string[] {
  const shares = codesOfPeople()
    .map((code) => ({ code, share: cells.filter((cell) => isNational(code, cell)).length / cells.length }))
    // Nearly any digits are a number in Luxembourg.
    .filter(({ code, share }) => share >= nationalMin && code !== '352')
    .toSorted((a, b) => b.share - a.share || Number(a.code) - Number(b.code))
  const best = shares[0]?.share ?? 0
  return shares.filter(({ share }) => share >= best - rivalMargin).map(({ code }) => code)
}
