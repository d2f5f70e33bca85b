/**
 * Phone numbers: digits only, possible by the numbering plans, with warnings for numbers that look wrong but may exist. The tables are compiled from
 * libphonenumber's metadata (`npm run numbers`). The library itself takes 25-37 µs a number, too slow for every send and for a million rows of an
 * import, so only the tests use it, as an oracle.
 */
import type { CountryCode } from 'libphonenumber-js/core'
import { codeLengthOf, exactPlan, hasLength, hasPlan, isAssigned, planOfCountry, plansOf, type Plan } from './plan.ts'
import { isOfPeople, isWrittenBare } from './type.ts'
import { currentForm, doubtfulForm, formsOf } from './renumbered.ts'
import { completeNumber, digitsOf, parseNumber, undoSpreadsheet } from './written.ts'
import { findCut } from './cell.ts'

/** A doubt about a number that is accepted. */
export interface NumberWarning {
  code: 'unassigned_range' | 'possible_national_number'
  detail: string
}

/** A number as stored and sent: 7 to 15 digits, no plus sign. */
export interface ReadNumber {
  number: string
  warnings: readonly NumberWarning[]
}

/** Why a text is not a number; the members of a field error. */
export interface NumberFault {
  code: 'invalid_phone_number'
  detail: string
  suggestion?: string
}

const form = /^\+?[1-9]\d{6,14}$/
const noWarnings: readonly NumberWarning[] = Object.freeze([])
const unassigned: NumberWarning = {
  code: 'unassigned_range',
  detail: 'This range is not assigned in any numbering plan; the carrier may refuse it.',
}
const possiblyNational: NumberWarning = {
  code: 'possible_national_number',
  detail:
    'The number is read as one of another country, but looks like a national one: write it with the country code and a plus sign.',
}
const onlyUnassigned: readonly NumberWarning[] = Object.freeze([unassigned])

/**
 * Reads a number in international form, with or without a plus sign. Refuses impossible numbers: an unknown calling code, or a length that the code
 * does not have. An unassigned range is only a warning, because sample and test numbers are in such ranges. `defaultCountry` (ISO 3166-1 alpha-2)
 * recognizes national numbers; they are suggested, never completed.
 */
export function readNumber(
  text: string,
  defaultCountry?: string | null,
  suggest: typeof suggestNumber = suggestNumber,
): ReadNumber | NumberFault {
  if (!form.test(text))
    return fault('must be 7 to 15 digits with the country code, such as 15551234567', suggest(text, defaultCountry))
  const hasPlus = text.charCodeAt(0) === 43
  const given = hasPlus ? text.slice(1) : text
  const codeLength = codeLengthOf(given)
  if (codeLength === 0) return fault('must start with the calling code of a country', suggest(text, defaultCountry))
  let number = currentForm(given.slice(0, codeLength), given)
  let plans = plansOf(number.slice(0, codeLength))
  let exact = plans.length > 1 ? exactPlan(plans, number) : undefined
  let plan = exact ?? plans[0]
  if (!plan || !hasLength(plan, number.length - codeLength))
    return lengthFault(number, codeLength, plan, hasPlus, suggest(text, defaultCountry))
  if (plan.dialling.national?.test(number.slice(codeLength))) {
    number = withoutTrunk(number)
    plans = plansOf(number.slice(0, codeLength))
    exact = plans.length > 1 ? exactPlan(plans, number) : undefined
    plan = exact ?? plans[0] ?? plan
  }
  const doubtful = doubtfulForm(plan.code, number)
  if (doubtful === '') return fault('lacks its area code', null)
  if (doubtful !== null)
    return fault('is in an old form of its country, and can belong to either of two phones today', doubtful)
  // Without a country, ten digits may be those of the US, whose people write no prefix.
  const isNational = !hasPlus && isNationalOf(given, codeLength, defaultCountry ?? 'US')
  if (isNational && defaultCountry && isAmbiguous(plan, number, defaultCountry))
    return ambiguityFault(given, number, defaultCountry)
  // For a plan that shares its code and has no leading digits, `exactPlan` has already run this test.
  const isTested = plans.length > 1 && plan.leading === null && plan.types !== null
  const mayBeNational = isNational || (!hasPlus && oldFormAt(given, defaultCountry) !== null)
  if (isTested ? exact === plan : isAssigned(plan, number))
    return { number, warnings: mayBeNational ? [possiblyNational] : noWarnings }
  return { number, warnings: mayBeNational ? [unassigned, possiblyNational] : onlyUnassigned }
}

/** Removes trunk prefixes behind the calling code. */
function withoutTrunk(number: string): string {
  for (let current = number; ;) {
    const next = completeNumber(current) ?? current
    if (next === current) return current
    current = next
  }
}

/**
 * The country of a number from `readNumber`; null for codes of no country. If countries share a code and the range is not decisive, the first of them
 * (the United States for 1).
 */
export function countryOf(number: string): string | null {
  const codeLength = codeLengthOf(number)
  if (codeLength === 0) return null
  const plans = plansOf(number.slice(0, codeLength))
  const plan = plans.length === 1 ? plans[0] : (exactPlan(plans, number) ?? plans[0])
  return plan?.country ?? null
}

/** The country of a calling code, such as +52, or the main one of several; null if the text is none. */
export function countryOfCode(text: string): string | null {
  const code = /^(?:\+|00)?([1-9]\d{0,2})$/.exec(text.trim())?.[1] ?? ''
  return plansOf(code)[0]?.country ?? null
}

/**
 * The current form of a number from a carrier or a caller, for comparison with stored ones. A text without a country code (a name, a short code, a
 * national number) is unchanged.
 */
export function currentNumber(text: string): string {
  const digits = text.replace(/^(?:\+|00)/, '')
  const read = readNumber(`+${digits}`)
  return 'number' in read ? read.number : text
}

/**
 * All forms of a phone's number, the current one first: older rows may have a form from before the country renumbered, or from before we knew of it.
 * Other texts have one form.
 */
export function spellingsOf(number: string): string[] {
  return formsOf(number.slice(0, codeLengthOf(number)), number)
}

export function isCountry(text: string): text is CountryCode {
  return hasPlan(text)
}

/** Whether the first digits may be a calling code: they are a group of their own, or no area code is as long as their group. */
function mayLackPlus(text: string): boolean {
  const [first = '', ...others] = text.match(/\d+/g) ?? []
  return others.length === 0 || codeLengthOf(first + others.join('')) === first.length || first.length > 5
}

// Longer texts, or those with more groups of digits, are not suggested: the time to search grows with both.
const suggestedMax = 50
const groupsMax = 8

/**
 * The most likely number of a text in another form, as in a cell of a file, or null. Only for suggestions: it also tries to add a missing plus sign.
 */
export function suggestNumber(text: string, defaultCountry?: string | null): string | null {
  if (text.length > suggestedMax) return null
  const { cleaned } = undoSpreadsheet(text)
  const one = (part: string): string | null => suggestOne(part, defaultCountry)
  const groups = cleaned.match(/\p{Nd}+/gu)?.length ?? 0
  const isCuttable = groups > 0 && groups <= groupsMax && !/^\+?\d+$/.test(cleaned)
  const cut = isCuttable ? findCut(cleaned, one) : null
  if (cut) return cut.kind === 'rest' ? cut.number : (cut.numbers[0] ?? null)
  return one(cleaned)
}

/** As `suggestNumber`, if the text is one number. Null for (555) 123-2007, which is not a number in Brazil. */
export function suggestOne(text: string, defaultCountry?: string | null): string | null {
  const atHome = defaultCountry ? readAtHome(text, defaultCountry) : null
  if (atHome) return 'number' in atHome ? atHome.number : null
  // 1 55 1234 5675 is of Mexico, and 1 551 234 5675 may be of Mexico or the US.
  const old = oldFormAt(digitsOf(text) ?? '', defaultCountry)
  if (old !== null) return /^\D*1\D*\d{3}\D+\d{3}\D+\d{4}\D*$/.test(text) ? null : old
  return (
    parseNumber(text.replace(/^00/, '+'), defaultCountry) ??
    (mayLackPlus(text) ? parseNumber(`+${text.replace(/^\+/, '')}`) : null)
  )
}

// 555 in the US, and 07700 900 in Great Britain.
const example = /^(?:1555|447700900)/

/**
 * Reads a number as dialled in a country; null if it is not one. If it was completed, and no such number is assigned, its area code is missing, a
 * digit is wrong, or the form is old (08 1234 5678 in Chile): it would reach nobody, and opt nobody out.
 */
export function readAtHome(text: string, country: string): ReadNumber | NumberFault | null {
  const parsed = parseNumber(text, country)
  if (parsed === null) return null
  const read = readNumber(`+${parsed}`)
  const isSure = !('number' in read) || read.warnings.length === 0 || digitsOf(text)?.endsWith(parsed)
  if (isSure || example.test(parsed)) return read
  return fault(
    `is not assigned in ${country}: add its area code; if it is right, write it with its country code and a plus sign`,
    null,
  )
}

/** The current form of national digits that have an old prefix of their country, which are another country's number as well; otherwise null. */
function oldFormAt(digits: string, country?: string | null): string | null {
  const code = country ? planOfCountry(country)?.code : undefined
  if (code === undefined || !/^[1-9]/.test(digits) || digits.startsWith(code)) return null
  const current = currentForm(code, code + digits)
  return current === code + digits ? null : current
}

function fault(detail: string, suggestion: string | null): NumberFault {
  return { code: 'invalid_phone_number', detail, ...(suggestion !== null && { suggestion }) }
}

function lengthFault(
  number: string,
  codeLength: number,
  plan: Plan | undefined,
  hasPlus: boolean,
  suggestion: string | null,
): NumberFault {
  const lengths = Array.from({ length: 16 }, (_, n) => n).filter((n) => plan && hasLength(plan, n))
  const given = number.length - codeLength
  const detail = `must have ${listOf(lengths)} digits after +${number.slice(0, codeLength)}; it has ${given}${hasPlus ? '' : howToComplete}`
  // One extra digit is a typing error; ids of machines have more.
  const isFar = given > Math.max(...lengths) + 1
  return fault(isFar ? `${detail}${howToAllow}` : detail, suggestion)
}

/** The fault in words that fit all numbers with the same fault. */
export function generalDetail(detail: string): string {
  if (/ digits after \+\d+; it has \d+/.test(detail))
    return 'must have as many digits as the numbers of its country have'
  const ambiguous = /^is a number of [A-Z]{2} without its country code(?=, and of )/.exec(detail)?.[0]
  return ambiguous === undefined
    ? detail
    : `${ambiguous}, and of another country with it: write it with its country code, or with a plus sign`
}

const howToComplete = '; if it lacks its country code, add that'
const howToAllow = '; if such numbers exist, the operator can allow them with HELIOGRAM_ANY_LENGTH_COUNTRIES'

const listOf = (numbers: number[]): string =>
  numbers.length > 1 ? `${numbers.slice(0, -1).join(', ')} or ${numbers.at(-1)}` : numbers.join()

/** Whether the digits, read as a national number, are in a personal range of a country whose calling code they do not begin with. */
function isNationalOf(digits: string, codeLength: number, country: string): boolean {
  const code = planOfCountry(country)?.code
  return (
    code !== undefined &&
    code !== digits.slice(0, codeLength) &&
    isOfPeople(code, currentForm(code, code + digits, true))
  )
}

/**
 * Whether a number may be meant as a national number of the country: people there write no prefix (202 555 0123), or the number is unassigned abroad.
 * If people write a prefix (0171 …), they do not leave it out on purpose, and a warning is enough.
 */
const isAmbiguous = (plan: Plan, number: string, country: string): boolean =>
  isWrittenBare(country) || !plan.general.test(number)

/** Refuses digits that may or may not include a country code. A plus sign, or the country code in front, resolves this. */
function ambiguityFault(digits: string, number: string, country: string): NumberFault {
  const national = parseNumber(digits, country)
  return {
    code: 'invalid_phone_number',
    detail: `is a number in ${country} without its country code, and in ${countryOf(number) ?? 'another network'} with it: write ${national ?? `it with the code of ${country}`}, or +${number}`,
    ...(national !== null && { suggestion: national }),
  }
}
