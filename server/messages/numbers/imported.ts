/** Numbers as files have them: what spreadsheets and people do to them is undone where nothing is lost, and named where digits are. */
import { digitsOf, parseNumber, undoSpreadsheet } from './written.ts'
import { readNumber } from './number.ts'

/** Why a cell is no number. */
export interface PhoneFault {
  code: 'required' | 'scientific_notation' | 'invalid_phone_number'
  detail: string
  suggestion?: string
}

/** What was wrong with numbers that could be mended; of several the one that stands first here. */
export const repairs = {
  apostrophe: 'An apostrophe stood before it, as spreadsheets show texts.',
  formula: 'It stood in a formula, by which programs keep its digits from spreadsheets.',
  decimal_point: 'It ended in `.0`: a program took the column for fractions.',
  thousands_separators: 'Its digits were grouped as an amount.',
  double_zero: '`00` stood for the plus sign.',
  national: 'It had no country code, and got the one of the default country.',
  missing_plus: 'It had its country code and no plus sign.',
} as const satisfies Record<string, string>
export type Repair = keyof typeof repairs

/** A number, and what was mended. */
export interface ImportedNumber {
  number: string
  repair: Repair | null
}

// Mobile numbers with their calling code and without a plus sign that the plan of the country has room for as national ones, and
// libphonenumber takes for such. Those would be of a few fixed lines, if of any: no other country has both (the test tries all).
const mobilesWithCode: Readonly<Record<string, RegExp>> = {
  DE: /^491(?:5\d{9}|(?:6[023]|7\d)\d{7,8})$/,
  ID: /^628[1-35-9]\d{7,10}$/,
  XK: /^3834[3-9]\d{6}$/,
}

// Excel shows 12 digits and more like this, and saves what it shows.
const scientific = /^[+']?\d+(?:[.,]\d+)?\s*[eE]\s*\+?\d+$/

/**
 * Reads a number leniently: punctuation, an apostrophe before it, `00` or no plus sign, `.0` after it; with a default country also
 * national numbers, which win where both readings exist, but over a mobile number of that country, and in an export, whose digits have
 * their country code. Digits that a spreadsheet dropped are never guessed.
 */
export function readImportedNumber(
  text: string,
  defaultCountry: string | null,
  isExport: boolean = false,
): ImportedNumber | PhoneFault {
  const { cleaned, repair } = undoSpreadsheet(text)
  if (cleaned === '') return { code: 'required', detail: 'is required' }
  if (scientific.test(cleaned))
    return {
      code: 'scientific_notation',
      detail: 'must be all digits: a spreadsheet has rounded the number; format the column as text and export it again',
    }
  const isInternational = cleaned.startsWith('+') || cleaned.startsWith('00')
  const international = isInternational ? cleaned.replace(/^00/, '+') : null
  const isWhole = (isExport && /^[1-9]\d*$/.test(cleaned)) || isMobileWithCode(cleaned, defaultCountry)
  const parsed = international
    ? parseNumber(international)
    : !isWhole && defaultCountry && parseNumber(cleaned, defaultCountry)
  if (parsed) return { number: parsed, repair: repair ?? nameForm(cleaned, parsed) }
  // Punctuation without a plus sign and without a country is a national number's: 555-123-4567 is no number of Brazil.
  const strict = readNumber(international ?? (isWhole ? (digitsOf(cleaned) ?? cleaned) : cleaned), defaultCountry)
  return 'number' in strict ? { number: strict.number, repair: repair ?? nameForm(cleaned, strict.number) } : strict
}

const isMobileWithCode = (cleaned: string, country: string | null): boolean =>
  country !== null && mobilesWithCode[country]?.test(digitsOf(cleaned) ?? '') === true

/** How a number was written that was read: nothing is wrong with one that has its plus sign. */
function nameForm(cleaned: string, number: string): Repair | null {
  if (cleaned.startsWith('+')) return null
  if (cleaned.startsWith('00')) return 'double_zero'
  return digitsOf(cleaned) === number ? 'missing_plus' : 'national'
}
