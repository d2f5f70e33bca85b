/**
 * Numbers as people write and dial them, completed with a country: the rules of libphonenumber (`PhoneNumberUtil.parse`) from the compiled table,
 * without its search for numbers in texts. The library is the oracle of the test.
 */
import { codeLengthOf, exactPlan, hasLength, planOfCountry, plansOf, type Plan } from './plan.ts'
import { currentForm } from './renumbered.ts'

// Any other character makes it a name or a formula, whose digits are an accident. The library also takes tildes, some of them as the mark of an
// extension. Blanks and digits of every script are accepted.
const written = /^[+＋﹢]?[\p{Nd}\p{Pd}\p{Zs}\p{Cf}\t−ー／/．.·()（）［\]［］[]+$/u
const form = /^[1-9]\d{6,14}$/
const textMax = 40

/**
 * Reads a number as people write it: with punctuation and a trunk prefix, international with a plus sign, else as dialled in the default country.
 * Returns possible numbers as digits, otherwise null.
 */
export function parseNumber(text: string, defaultCountry?: string | null): string | null {
  const typed = digitsOf(text)
  if (typed === null) return null
  const home = defaultCountry ? planOfCountry(defaultCountry) : undefined
  const international = typed.startsWith('+') ? typed.slice(1) : home ? withoutInternationalPrefix(home, typed) : null
  if (international !== null) return completeNumber(international)
  if (!home) return null
  const plans = plansOf(home.code)
  if (!isInternational(home, typed)) return complete(plans, home, typed, true)
  return complete(plans, plans[0] ?? home, typed.slice(home.code.length))
}

/** The current form of digits with a calling code, without a trunk prefix; null if they are impossible. */
export function completeNumber(digits: string): string | null {
  const codeLength = codeLengthOf(digits)
  const plans = plansOf(digits.slice(0, codeLength))
  const [main] = plans
  return main ? complete(plans, main, digits.slice(codeLength)) : null
}

const amount = /^\+?\d{1,3}(?:,\d{3}){2,}(?:\.0+)?$/
// Programs write this so that a spreadsheet keeps the digits.
const formula = /^="([^"]*)"$/
// Marks of direction and joiners, which phones put around copied numbers.
const unseen = /\p{Cf}+/gu

/** Undoes what a spreadsheet did to a number, if no digit is lost, and reports it. */
export function undoSpreadsheet(text: string): {
  cleaned: string
  repair: 'apostrophe' | 'formula' | 'decimal_point' | 'thousands_separators' | null
} {
  const trimmed = toAscii(text).trim()
  // Forms write (+33) 6 12 34 56 78.
  const bare = trimmed
    .replace(/^['’`]+/, '')
    .trim()
    .replace(/^([([])\s*\+/, '+$1')
  const said = formula.exec(bare)?.[1]?.trim() ?? bare
  // Data frames turn a column of numbers with gaps into fractions. Those never begin with 0, and more zeros are a group of digits.
  const whole = said.replace(/^(\+?[1-9][\d, ]*)[.,]0{1,2}$/, '$1')
  const cleaned = amount.test(whole) ? whole.replaceAll(',', '') : whole
  const repair = /^['’`]/.test(trimmed)
    ? 'apostrophe'
    : said !== bare
      ? 'formula'
      : whole !== said
        ? 'decimal_point'
        : cleaned !== whole
          ? 'thousands_separators'
          : null
  return { cleaned, repair }
}

/** Converts digits, blanks and plus signs of every script to ASCII, and drops invisible characters. */
function toAscii(text: string): string {
  if (/^[ -~]*$/.test(text)) return text
  return text
    .replace(unseen, '')
    .replace(/\p{Nd}/gu, (digit) => String(valueOf(digit)))
    .replace(/\p{Zs}/gu, ' ')
    .replace(/[＋﹢]/g, '+')
}

/** The digits of a number with the usual punctuation, its plus sign first; null if there are other characters. */
export function digitsOf(text: string): string | null {
  if (text.length > textMax) return null
  if (/^\+?[0-9]+$/.test(text)) return text
  if (!written.test(text)) return null
  let digits = /^[+＋﹢]/.test(text) ? '+' : ''
  for (const [digit] of text.matchAll(/\p{Nd}/gu)) digits += String(valueOf(digit))
  return digits
}

const isDigit = /^\p{Nd}$/u

/** The value of a decimal digit of any script. Each script has its ten digits in a row; adjacent rows begin with a 0 too. */
function valueOf(digit: string): number {
  const point = digit.codePointAt(0) ?? 0
  if (point < 0x80) return point - 0x30
  let first = point
  while (isDigit.test(String.fromCodePoint(first - 1))) first--
  return (point - first) % 10
}

function withoutInternationalPrefix({ dialling }: Plan, typed: string): string | null {
  const prefix = dialling.international?.exec(typed)?.[0] ?? ''
  const rest = typed.slice(prefix.length)
  // No calling code begins with 0, so this was not an international prefix.
  return prefix === '' || rest === '' || rest.startsWith('0') ? null : rest
}

/** Whether the digits are an international number without its plus sign, not a national number that begins alike. */
function isInternational(home: Plan, typed: string): boolean {
  if (!typed.startsWith(home.code)) return false
  const asNational = nationalOf(home, typed)
  if (asNational.length >= 32 - Math.clz32(home.lengths)) return true
  const shorter = nationalOf(home, typed.slice(home.code.length))
  return !home.general.test(home.code + asNational) && home.general.test(home.code + shorter)
}

/** Removes the national prefix, unless only the digits with the prefix are a number of the plan. */
function nationalOf(plan: Plan, typed: string): string {
  const { national, replacement } = plan.dialling
  const match = national?.exec(typed)
  if (!national || !match) return typed
  const isReplaced = replacement !== '' && match.length > 1 && match.at(-1) !== undefined && match.at(-1) !== ''
  const rest = isReplaced ? typed.replace(national, replacement) : typed.slice(match[0].length)
  if (rest === typed) return typed
  if (plan.general.test(plan.code + typed) && !plan.general.test(plan.code + rest)) return typed
  const plans = plansOf(plan.code)
  const exact = plans.length === 1 ? plan : (exactPlan(plans, plan.code + rest) ?? plan)
  // Too many digits are no reason to keep the prefix.
  const isLong = rest.length >= 32 - Math.clz32(exact.lengths)
  return isLong || hasLength(exact, rest.length) ? rest : typed
}

/** The whole number in its current form, if its country's plan has the length. */
function complete(plans: Plan[], chosen: Plan, typed: string, isHome = false): string | null {
  const number = chosen.code + nationalOf(chosen, typed)
  const current = currentForm(chosen.code, number, isHome)
  if (current !== number) return current
  const exact = plans.length === 1 ? plans[0] : exactPlan(plans, number)
  return hasLength(exact ?? chosen, number.length - chosen.code.length) && form.test(number) ? number : null
}
