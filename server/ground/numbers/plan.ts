/** Numbering plans by calling code and by country, from the compiled table. */
import { planRows } from './plans.ts'

/** One country's part of the numbers behind a calling code; the patterns take whole numbers, code included. */
export interface Plan {
  code: string
  /** ISO 3166-1 alpha-2; null for codes that belong to no country (satellites, international freephone). */
  country: string | null
  /** Bit n is set where a number may have n digits after the calling code. */
  lengths: number
  /** Matches only this country's numbers, where its plan shares a code with others. */
  leading: RegExp | null
  general: RegExp
  /** Fixed, mobile, toll free…: finer than `general`; in the metadata only for shared codes. */
  types: RegExp | null
  dialling: Dialling
}

/** How the country dials; patterns of digits as typed, without the calling code. */
interface Dialling {
  /** Before a calling code: 00, 011. */
  international: RegExp | null
  /** Before a national number: 0, 1; with what may be typed around it. */
  national: RegExp | null
  /** What the national prefix is replaced by, where something was captured behind it. */
  replacement: string
}

const rows = planRows.split('\n').map((row) => row.split(' '))
const rowsByCode = Map.groupBy(rows, ([code = '']) => code)
const codeOfCountry = new Map<string, string>()
for (const [code = '', country = ''] of rows) if (country !== '') codeOfCountry.set(country, code)

// Calling codes are prefix-free and have 1 to 3 digits: three digits tell how many of them are the code (0: nobody's).
const codeLengths = new Uint8Array(1000)
for (const code of rowsByCode.keys()) {
  const span = 10 ** (3 - code.length)
  codeLengths.fill(code.length, Number(code) * span, (Number(code) + 1) * span)
}

/** Plans by calling code, made when a code is first met: parsing every pattern at start would take longer than the start. */
const plansByCode: (Plan[] | undefined)[] = []

let anyLength: ReadonlySet<string> = new Set()

/**
 * Lets numbers of these countries (ISO 3166-1 alpha-2) have any length up to 15 digits, in this thread: said once at the start, by the operator, for
 * numbers that the plans do not know. They stay outside the ranges that the plans have given, and are warned of.
 */
export function allowAnyLength(countries: readonly string[]): void {
  anyLength = new Set(countries)
  plansByCode.length = 0
}

/** Digits of the calling code of a number, 0 where nobody has it. */
export function codeLengthOf(number: string): number {
  const head = number.charCodeAt(0) * 100 + number.charCodeAt(1) * 10 + number.charCodeAt(2) - 48 * 111
  return codeLengths[head] ?? 0
}

/** The plans behind a calling code, the main country's first; none where nobody has it. */
export function plansOf(code: string): Plan[] {
  return (plansByCode[Number(code)] ??= (rowsByCode.get(code) ?? []).map(planOf))
}

/** The plan of a country (ISO 3166-1 alpha-2). */
export function planOfCountry(country: string): Plan | undefined {
  const code = codeOfCountry.get(country)
  return code === undefined ? undefined : plansOf(code).find((plan) => plan.country === country)
}

/** Says that a country (ISO 3166-1 alpha-2) has a numbering plan. */
export const hasPlan = (country: string): boolean => codeOfCountry.has(country)

/** The plan whose country the number is proven to be in (leading digits, else a type's pattern), in the library's order. */
export function exactPlan(plans: Plan[], number: string): Plan | undefined {
  for (const plan of plans) {
    if (plan.leading ? plan.leading.test(number) : plan.types && isAssigned(plan, number)) return plan
  }
  return undefined
}

/** Says that the plan has given the number's range to somebody. */
export const isAssigned = (plan: Plan, number: string): boolean =>
  plan.general.test(number) && (plan.types === null || plan.types.test(number))

/** Says that a number may have as many digits after its calling code. */
export const hasLength = (plan: Plan, digits: number): boolean => (plan.lengths & (1 << digits)) !== 0

// Of E.164, and of what a number may be here (`number.ts`).
const [digitsMin, digitsMax] = [7, 15]

function anyLengthOf(code: string): number {
  let mask = 0
  for (let digits = digitsMin; digits <= digitsMax; digits++) mask |= 1 << (digits - code.length)
  return mask
}

function planOf(row: string[]): Plan {
  const [code = '', country = '', lengths, general = '', types = '', leading = '', international, national, to] = row
  let dialling: Dialling | undefined
  return {
    code,
    country: country === '' ? null : country,
    lengths: Number(lengths) | (anyLength.has(country) ? anyLengthOf(code) : 0),
    leading: leading === '' ? null : new RegExp(`^${code}(?:${leading})`),
    general: new RegExp(`^${code}(?:${general})$`),
    types: types === '' ? null : new RegExp(`^${code}(?:${types})$`),
    // Only numbers that are not in international form need these.
    get dialling(): Dialling {
      return (dialling ??= {
        international: international ? new RegExp(`^(?:${international})`) : null,
        national: national ? new RegExp(`^(?:${national})`) : null,
        replacement: to ?? '',
      })
    },
  }
}
