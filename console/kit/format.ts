/** Numbers, money and times in the browser's language; times on the account's clock, if it is known. */

const whole = new Intl.NumberFormat()

export const formatNumber = (value: number): string => whole.format(value)

/** An amount in the API's decimals, all of which stay: prices of messages have many. */
export function formatMoney({ amount, currency }: { amount: string; currency: string }): string {
  const digits = Math.max(2, amount.split('.')[1]?.length ?? 0)
  const format = { style: 'currency', currency, minimumFractionDigits: digits, maximumFractionDigits: digits } as const
  // The text, not the number, which would lose digits.
  return new Intl.NumberFormat(undefined, format).format(amount as `${number}`)
}

/** Sums, in cents; more digits for amounts below ten cents. */
export const formatSums = (amounts: readonly { amount: string; currency: string }[]): string =>
  amounts
    .map(({ amount, currency }) => {
      const digits = Number(amount) < 0.1 ? { maximumFractionDigits: 5 } : {}
      return new Intl.NumberFormat(undefined, { style: 'currency', currency, ...digits }).format(Number(amount))
    })
    .join(' + ')

const percent = new Intl.NumberFormat(undefined, {
  style: 'percent',
  minimumFractionDigits: 1,
  maximumFractionDigits: 1,
})

/** `96.2%`; a dash for a share of nothing. Only all is 100%, and only nothing is 0%. */
export function formatShare(value: number, of: number): string {
  if (of === 0) return '–'
  if (value === 0 || value === of) return value === 0 ? '0%' : '100%'
  const share = value / of
  return share < 0.001 ? '<0.1%' : percent.format(Math.min(share, 0.999))
}

/** `number_not_in_service` as `Number not in service`. */
export const formatCode = (code: string): string => code.charAt(0).toUpperCase() + code.slice(1).replaceAll('_', ' ')

const inFull = {
  year: 'numeric',
  month: 'short',
  day: 'numeric',
  hour: 'numeric',
  minute: '2-digit',
  second: '2-digit',
  // For people and logs elsewhere.
  timeZoneName: 'short',
} as const

const clocks = new Map<string | undefined, Intl.DateTimeFormat>()

/** In full, with its time zone. */
export function formatMoment(date: Date, zone: string | undefined): string {
  const clock = clocks.get(zone) ?? new Intl.DateTimeFormat(undefined, { ...inFull, timeZone: zone })
  clocks.set(zone, clock)
  return clock.format(date)
}

const relative = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto' })
const units: [Intl.RelativeTimeFormatUnit, number][] = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
  ['second', 1],
]

/** "2 minutes ago", or "in 7 days", rounded to the nearest. */
export function formatDistance(seconds: number): string {
  const [unit, size] = units.find(([, length]) => Math.round(Math.abs(seconds)) >= length) ?? ['second', 1]
  return relative.format(Math.round(seconds / size), unit)
}
