import { planRows } from './plans.ts'

/** One country's part of the numbers behind a calling code; the patterns match whole numbers, code included. */
export interface Plan {
  code: string
  /** ISO 3166-1 alpha-2; null for codes of no country (satellites, international freephone). */
  country: string | null
  /** Bit n is set if a number may have n digits after the calling code. */
  lengths: number
  /** Matches only this country's numbers, if its plan shares a code with others. */
  leading: RegExp | null
  general: RegExp
  /** Fixed, mobile, toll free…: finer than `general`; in the metadata only for shared codes. */
  types: RegExp | null
  dialling: Dialling
}

/** The country's dialling rules; patterns of typed digits, without the calling code. */
interface Dialling {
  /** Before a calling code: 00, 011. */
  international: RegExp | null
  /** Before a national number: 0, 1; with carrier codes around it. */
  national: RegExp | null
  /** The replacement of the national prefix, if its pattern captures digits. */
  replacement: string
}

const rows = planRows.split('\n').map((row) => row.split(' '))
const rowsByCode = Map.groupBy(rows, ([code = '']) => code)
const codeOfCountry = new Map<string, string>()
for (const [code = '', country = ''] of rows) if (country !== '') codeOfCountry.set(country, code)

// Calling codes are prefix-free and have 1 to 3 digits, so three digits decide the code's length (0: unassigned).
const codeLengths = new Uint8Array(1000)
for (const code of rowsByCode.keys()) {
  const span = 10 ** (3 - code.length)
  codeLengths.fill(code.length, Number(code) * span, (Number(code) + 1) * span)
}

/** Plans by calling code, parsed at first use: parsing every pattern would take longer than the rest of the start. */
const plansByCode: (Plan[] | undefined)[] = []

let anyLength: ReadonlySet<string> = new Set()

/**
 * Allows any length up to 15 digits for these countries (ISO 3166-1 alpha-2), in this thread. Set once at the start, by the operator, for numbers
 * that the plans do not know. They stay outside the assigned ranges, so they get a warning.
 */
export function allowAnyLength(countries: readonly string[]): void {
  anyLength = new Set(countries)
  plansByCode.length = 0
}

/** The length of a number's calling code; 0 if it is unassigned. */
export function codeLengthOf(number: string): number {
  const head = number.charCodeAt(0) * 100 + number.charCodeAt(1) * 10 + number.charCodeAt(2) - 48 * 111
  return codeLengths[head] ?? 0
}

/** The plans of a calling code, the main country's first; empty if it is unassigned. */
export function plansOf(code: string): Plan[] {
  return (plansByCode[Number(code)] ??= (rowsByCode.get(code) ?? []).map(planOf))
}

export function planOfCountry(country: string): Plan | undefined {
  const code = codeOfCountry.get(country)
  return code === undefined ? undefined : plansOf(code).find((plan) => plan.country === country)
}

export const hasPlan = (country: string): boolean => codeOfCountry.has(country)

/** The plan that proves the number's country (by leading digits, else by a type's pattern), in the library's order. */
export function exactPlan(plans: Plan[], number: string): Plan | undefined {
  for (const plan of plans) {
    if (plan.leading ? plan.leading.test(number) : plan.types && isAssigned(plan, number)) return plan
  }
  return undefined
}

/** Whether the plan has assigned the number's range. */
export const isAssigned = (plan: Plan, number: string): boolean =>
  plan.general.test(number) && (plan.types === null || plan.types.test(number))

/** Whether a number may have this many digits after its calling code. */
export const hasLength = (plan: Plan, digits: number): boolean => (plan.lengths & (1 << digits)) !== 0

// The limits of E.164, and of stored numbers (`number.ts`).
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
    // Parsed at first use, because numbers in international form never need them.
    get dialling(): Dialling {
      return (dialling ??= {
        international: international ? new RegExp(`^(?:${international})`) : null,
        national: national ? new RegExp(`^(?:${national})`) : null,
        replacement: to ?? '',
      })
    },
  }
}
