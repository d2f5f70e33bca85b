/**
 * Phone numbers: digits only, possible by the numbering plans, with warnings where a number looks wrong but may exist.
 * The tables come from libphonenumber's metadata; the library itself takes 25-37 µs a number, too long for every send, so it only
 * writes suggestions for numbers that were refused, and is the oracle of the test.
 */
import { parsePhoneNumberFromString, type CountryCode } from 'libphonenumber-js/core'
import metadata from 'libphonenumber-js/min/metadata'

/** A doubt about a number that is accepted all the same. */
export interface NumberWarning {
  code: 'unassigned_range' | 'possible_national_number'
  detail: string
}

/** A number as it is stored and sent: 7 to 15 digits, no plus sign. */
export interface ReadNumber {
  number: string
  warnings: readonly NumberWarning[]
}

/** Why a text is no number; the members of a field error. */
export interface NumberFault {
  code: 'invalid_phone_number'
  detail: string
  suggestion?: string
}

/** One country's part of the numbers behind a calling code; the patterns take whole numbers, code included. */
interface Plan {
  /** ISO 3166-1 alpha-2; null for codes that belong to no country (satellites, international freephone). */
  country: string | null
  /** Bit n is set where a number may have n digits after the calling code. */
  lengths: number
  /** Matches only this country's numbers, where its plan shares a code with others. */
  leading: RegExp | null
  general: RegExp
  /** Fixed, mobile, toll free…: finer than `general`; in the small metadata only for shared codes. */
  types: RegExp | null
}

/** A country's row, as the library's METADATA.md lays it out; only what is used here is named. */
interface Entry {
  /** Calling code. */
  readonly 0: string
  /** Pattern of any number. */
  readonly 2: string
  /** Possible lengths. */
  readonly 3: readonly number[]
  /** Leading digits. */
  readonly 10?: string | 0
  /** Patterns by type. */
  readonly 11?: readonly (readonly [string] | 0)[] | 0
}
const tables = metadata as unknown as {
  country_calling_codes: Record<string, string[]>
  countries: Record<string, Entry>
  nonGeographic: Record<string, Entry>
}

// Calling codes are prefix-free and have 1 to 3 digits: three digits tell how many of them are the code (0: nobody's).
const codeLengths = new Uint8Array(1000)
for (const code of [...Object.keys(tables.country_calling_codes), ...Object.keys(tables.nonGeographic)]) {
  const span = 10 ** (3 - code.length)
  codeLengths.fill(code.length, Number(code) * span, (Number(code) + 1) * span)
}

/** Plans by calling code, made when a code is first met: parsing every pattern at start would take longer than the start. */
const plansByCode: (Plan[] | undefined)[] = []

const form = /^\+?[1-9]\d{6,14}$/
const noWarnings: readonly NumberWarning[] = Object.freeze([])
const unassigned: NumberWarning = {
  code: 'unassigned_range',
  detail: 'No numbering plan has given this range to anybody; the carrier may refuse it.',
}
const possiblyNational: NumberWarning = {
  code: 'possible_national_number',
  detail: 'The number reads as one of another country, but looks like a national one; write it with the country code.',
}
const onlyUnassigned: readonly NumberWarning[] = Object.freeze([unassigned])

/**
 * Reads a number in international form, with or without a plus sign. Refuses what cannot exist: an unknown calling code or a length
 * that the code does not have. A range that nobody was given is only a warning: sample and test numbers are such.
 * `defaultCountry` (ISO 3166-1 alpha-2) finds national numbers written by mistake; they are never completed, only suggested.
 */
export function readNumber(text: string, defaultCountry?: string | null): ReadNumber | NumberFault {
  if (!form.test(text))
    return fault('must be 7 to 15 digits with the country code, such as 15551234567', text, defaultCountry)
  const hasPlus = text.charCodeAt(0) === 43
  const number = hasPlus ? text.slice(1) : text
  const codeLength = codeLengthOf(number)
  if (codeLength === 0) return fault('must begin with the calling code of a country', text, defaultCountry)
  const plans = plansOf(Number(number.slice(0, codeLength)), codeLength)
  const length = number.length - codeLength
  const exact = plans.length > 1 ? exactPlan(plans, number) : undefined
  const plan = exact ?? plans[0]
  if (!plan || (plan.lengths & (1 << length)) === 0) return lengthFault(number, codeLength, plan, text, defaultCountry)
  const isNational = !hasPlus && defaultCountry ? isNationalOf(number, codeLength, defaultCountry) : false
  // A plan without leading digits that shares its code was found, or passed over, by this very test.
  const isTested = plans.length > 1 && plan.leading === null && plan.types !== null
  if (isTested ? exact === plan : isAssigned(plan, number))
    return { number, warnings: isNational ? [possiblyNational] : noWarnings }
  return { number, warnings: isNational ? [unassigned, possiblyNational] : onlyUnassigned }
}

/**
 * The country of a number that `readNumber` gave, or null for codes of no country. Where several share a code and the range tells
 * none of them, the first of them (the United States for 1).
 */
export function countryOf(number: string): string | null {
  const codeLength = codeLengthOf(number)
  if (codeLength === 0) return null
  const plans = plansOf(Number(number.slice(0, codeLength)), codeLength)
  const plan = plans.length === 1 ? plans[0] : (exactPlan(plans, number) ?? plans[0])
  return plan?.country ?? null
}

/** Says that a country (ISO 3166-1 alpha-2) has a numbering plan. */
export function isCountry(text: string): text is CountryCode {
  return Object.hasOwn(tables.countries, text)
}

/**
 * The number that a text in another form most likely means, digits only, or null. Only for suggestions: it also tries whether a plus
 * sign was forgotten.
 */
export function suggestNumber(text: string, defaultCountry?: string | null): string | null {
  const cleaned = text.trim().replace(/^['’`]+/, '')
  return (
    parseNumber(cleaned, defaultCountry) ??
    parseNumber(cleaned.replace(/^00/, '+'), defaultCountry) ??
    parseNumber(`+${cleaned.replace(/^\+/, '')}`)
  )
}

/**
 * Reads a number as people write it: with punctuation and a trunk prefix, international with a plus sign, else as dialled in the
 * default country. Digits only, possible, or null. Some 10 µs: for files and forms, not for what is sent.
 */
export function parseNumber(text: string, defaultCountry?: string | null): string | null {
  // Anything but digits and the punctuation of numbers is a name or a formula, in which digits would be found by chance.
  if (text.length > 40 || !/^\+?[\p{Nd}\s().\-‐-―/]+$/u.test(text)) return null
  const country = defaultCountry && isCountry(defaultCountry) ? { defaultCountry } : {}
  const parsed = parsePhoneNumberFromString(text, { ...country, extract: false }, metadata)
  const number = parsed?.number.slice(1)
  return parsed?.isPossible() && number && form.test(number) ? number : null
}

function fault(detail: string, text: string, defaultCountry?: string | null): NumberFault {
  const suggestion = suggestNumber(text, defaultCountry)
  return { code: 'invalid_phone_number', detail, ...(suggestion !== null && { suggestion }) }
}

function lengthFault(
  number: string,
  codeLength: number,
  plan: Plan | undefined,
  text: string,
  defaultCountry?: string | null,
): NumberFault {
  const lengths = Array.from({ length: 16 }, (_, n) => n).filter((n) => plan && plan.lengths & (1 << n))
  const detail = `must have ${listOf(lengths)} digits after +${number.slice(0, codeLength)}; it has ${number.length - codeLength}`
  return fault(detail, text, defaultCountry)
}

const listOf = (numbers: number[]): string =>
  numbers.length > 1 ? `${numbers.slice(0, -1).join(', ')} or ${numbers.at(-1)}` : numbers.join()

/** Digits of the calling code, 0 where nobody has it. */
function codeLengthOf(number: string): number {
  const head = number.charCodeAt(0) * 100 + number.charCodeAt(1) * 10 + number.charCodeAt(2) - 48 * 111
  return codeLengths[head] ?? 0
}

/** The plan whose country the number is proven to be in (leading digits, else a type's pattern), in the library's order. */
function exactPlan(plans: Plan[], number: string): Plan | undefined {
  for (const plan of plans) {
    if (plan.leading ? plan.leading.test(number) : plan.types && isAssigned(plan, number)) return plan
  }
  return undefined
}

const isAssigned = (plan: Plan, number: string): boolean =>
  plan.general.test(number) && (plan.types === null || plan.types.test(number))

/** Says that the digits, read as a national number, exist in a country whose calling code they do not begin with. */
function isNationalOf(number: string, codeLength: number, country: string): boolean {
  const code = tables.countries[country]?.[0]
  if (code === undefined || code === number.slice(0, codeLength)) return false
  const plan = plansOf(Number(code), code.length).find((one) => one.country === country)
  return plan !== undefined && isAssigned(plan, code + number)
}

function plansOf(code: number, codeLength: number): Plan[] {
  const known = plansByCode[code]
  if (known) return known
  const text = String(code).padStart(codeLength, '0')
  const countries = tables.country_calling_codes[text]
  const plans = countries
    ? countries.map((country) => planOf(text, country, tables.countries[country]))
    : [planOf(text, null, tables.nonGeographic[text])]
  plansByCode[code] = plans
  return plans
}

function planOf(code: string, country: string | null, entry: Entry | undefined): Plan {
  if (!entry) throw new Error(`The number metadata names +${code} without describing it`)
  // An empty pattern stands for a type that shares the pattern of another.
  const types = (entry[11] || []).map((type) => (type ? type[0] : '')).filter((pattern) => pattern !== '')
  return {
    country,
    lengths: entry[3].reduce((mask, length) => mask | (1 << length), 0),
    leading: entry[10] ? new RegExp(`^${code}(?:${entry[10]})`) : null,
    general: new RegExp(`^${code}(?:${entry[2]})$`),
    types: types.length > 0 ? new RegExp(`^${code}(?:${types.join('|')})$`) : null,
  }
}
