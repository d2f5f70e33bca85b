/** Numbers in files: damage by spreadsheets and people is repaired if no digit is lost, and reported otherwise. */
import { digitsOf, parseNumber, undoSpreadsheet } from './written.ts'
import { findCut } from './cell.ts'
import { isInDoubt, type Doubt } from './national.ts'
import { generalDetail, readAtHome, readNumber, spellingsOf, suggestOne, type NumberFault } from './number.ts'

/** Why a cell is not a number. */
export interface PhoneFault {
  code: 'required' | 'scientific_notation' | 'invalid_phone_number'
  detail: string
  /** The detail without the parts that are specific to this cell. */
  general?: string
  suggestion?: string
  /** The number in the cell, if only its surroundings are wrong: enough to opt the person out, but not to send to them. */
  found?: string
}

/** Repairs of numbers; if several apply, the first in this list is reported. */
export const repairs = {
  apostrophe: 'It started with an apostrophe, as spreadsheets mark text.',
  formula: 'It was in a formula, which keeps spreadsheets from changing its digits.',
  decimal_point: 'It ended in `.0`: a program treated the column as fractions.',
  thousands_separators: 'Its digits were grouped like an amount.',
  double_zero: 'It had `00` instead of the plus sign.',
  national: 'It had no country code, and got that of the default country.',
  missing_plus: 'It had its country code but no plus sign.',
  renumbered: "It had an old form of its country's numbers, and got the current one.",
  several_numbers: 'The cell had several numbers; the first was used.',
} as const satisfies Record<string, string>
export type Repair = keyof typeof repairs

/** A number and its repair. */
export interface ImportedNumber {
  number: string
  repair: Repair | null
  /** Other numbers in the cell, which are not imported. */
  others: readonly string[]
}

// Mobile numbers with a calling code and no plus sign that also fit the country's plan as national numbers, which is how libphonenumber reads them.
// As national numbers, they would be a few fixed lines at most. No other country has both readings (the test tries all).
const mobilesWithCode: Readonly<Record<string, RegExp>> = {
  DE: /^491(?:5\d{9}|(?:6[023]|7\d)\d{7,8})$/,
  ID: /^628[1-35-9]\d{7,10}$/,
  XK: /^3834[3-9]\d{6}$/,
}

// Excel displays numbers of 12 digits and more in this form, and saves what it displays.
const scientific = /^[+']?\d+(?:[.,]\d+)?\s*[eE]\s*\+?\d+$/

/**
 * Reads the number in a cell leniently: punctuation, blanks and digits of any script, a leading apostrophe, `00` or no plus sign, a trailing `.0`.
 * With a country (the row's own, else the request's), also reads national numbers. They win if both readings exist, except over a mobile number of
 * that country, and except in an export, whose digits include the country code. Never guesses digits that a spreadsheet dropped. Of several whole
 * numbers, takes the first. Refuses an extension or the last digits of another number, together with the number before them. Without a country,
 * `doubt` says which digits of the column are probably national numbers, which are refused.
 */
export function readImportedNumber(
  text: string,
  country: string | null,
  isExport: boolean = false,
  doubt: Doubt | null = null,
): ImportedNumber | PhoneFault {
  const { cleaned, repair } = undoSpreadsheet(text)
  if (cleaned === '') return { code: 'required', detail: 'is required' }
  if (scientific.test(cleaned))
    return {
      code: 'scientific_notation',
      detail: 'must be all digits: a spreadsheet has rounded the number; format the column as text and export it again',
    }
  const readOne = (part: string): ReadOne | PhoneFault =>
    doubt && country === null && isInDoubt(part, doubt)
      ? refuseDoubtful(part, doubt)
      : readSingle(part, country, isExport)
  const numberOf = (part: string): string | null => {
    const read = readOne(part)
    return 'number' in read ? read.number : null
  }
  const cut = findCut(cleaned, numberOf)
  if (!cut) {
    const read = readOne(cleaned)
    return 'number' in read ? { number: read.number, repair: repair ?? read.repair, others: [] } : read
  }
  if (cut.kind === 'numbers') {
    const [number = '', ...others] = cut.numbers
    const isOne = others.every((other) => other === number)
    return { number, repair: isOne ? repair : 'several_numbers', others: isOne ? [] : others }
  }
  return { code: 'invalid_phone_number', detail: cut.detail, suggestion: cut.number, found: cut.number }
}

function refuseDoubtful(digits: string, { codes }: Doubt): PhoneFault {
  const [code = '', ...others] = codes
  return {
    code: 'invalid_phone_number',
    detail:
      'looks like a number without its country code: name the country of the list (`default_country`), or write a plus sign before a country code',
    ...(others.length === 0 && { suggestion: code + digits }),
  }
}

interface ReadOne {
  number: string
  repair: Repair | null
}

function readSingle(cleaned: string, country: string | null, isExport: boolean): ReadOne | PhoneFault {
  const isInternational = cleaned.startsWith('+') || cleaned.startsWith('00')
  const international = isInternational ? cleaned.replace(/^00/, '+') : null
  const isWhole = (isExport && /^[1-9]\d*$/.test(cleaned)) || isMobileWithCode(cleaned, country)
  const parsed = international && parseNumber(international)
  const read = parsed ? readNumber(`+${parsed}`) : !international && !isWhole && country && readAtHome(cleaned, country)
  if (read)
    return 'number' in read ? { number: read.number, repair: nameForm(cleaned, read.number) } : withGeneral(read)
  // Punctuation without a plus sign or a country marks a national number: 555-123-4567 is not a number in Brazil.
  const strict = readNumber(
    international ?? (isWhole ? `+${digitsOf(cleaned) ?? cleaned}` : cleaned),
    country,
    suggestOne,
  )
  return 'number' in strict ? { number: strict.number, repair: nameForm(cleaned, strict.number) } : withGeneral(strict)
}

const withGeneral = (fault: NumberFault): PhoneFault => ({ ...fault, general: generalDetail(fault.detail) })

const isMobileWithCode = (cleaned: string, country: string | null): boolean =>
  country !== null && mobilesWithCode[country]?.test(digitsOf(cleaned) ?? '') === true

function nameForm(cleaned: string, number: string): Repair | null {
  const digits = (digitsOf(cleaned) ?? '').replace(/^(?:\+|00)/, '')
  const isOld = digits !== number && spellingsOf(number).includes(digits)
  if (isOld) return 'renumbered'
  if (cleaned.startsWith('+')) return null
  if (cleaned.startsWith('00')) return 'double_zero'
  return digits === number ? 'missing_plus' : 'national'
}
