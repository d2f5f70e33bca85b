/** Numbers as files have them: what spreadsheets and people do to them is undone where nothing is lost, and named where digits are. */
import { parseNumber, readNumber } from '../../messages/number.ts'

/** Why a cell is no number. */
export interface PhoneFault {
  code: 'required' | 'scientific_notation' | 'invalid_phone_number'
  detail: string
  suggestion?: string
}

// Excel shows 12 digits and more like this, and saves what it shows.
const scientific = /^[+']?\d+(?:[.,]\d+)?\s*[eE]\s*\+?\d+$/

/**
 * Reads a number leniently: punctuation, an apostrophe before it, `00` or no plus sign, `.0` after it; with a default country also
 * national numbers, which win where both readings exist. Digits that a spreadsheet dropped are never guessed.
 */
export function readImportedNumber(text: string, defaultCountry: string | null): { number: string } | PhoneFault {
  // Data frames turn a column of numbers with gaps into floats.
  const cleaned = text
    .trim()
    .replace(/^['’`]+/, '')
    .replace(/^(\d+)\.0+$/, '$1')
    .trim()
  if (cleaned === '') return { code: 'required', detail: 'is required' }
  if (scientific.test(cleaned))
    return {
      code: 'scientific_notation',
      detail: 'must be all digits: a spreadsheet has rounded the number; format the column as text and export it again',
    }
  const international = /^(?:\+|00)/.test(cleaned) ? cleaned.replace(/^00/, '+') : null
  const parsed = international ? parseNumber(international) : defaultCountry && parseNumber(cleaned, defaultCountry)
  if (parsed) return { number: parsed }
  const strict = readNumber(international ?? cleaned, defaultCountry)
  return 'number' in strict ? { number: strict.number } : strict
}
