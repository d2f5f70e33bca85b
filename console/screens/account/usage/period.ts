/** UTC days, as the API counts them. */
import { endOfDay } from '../../../kit/moments.ts'

export const periods: readonly (readonly [string, string])[] = [
  ['', 'This month'],
  ['last-month', 'Last month'],
  ['7', 'The last 7 days'],
  ['30', 'The last 30 days'],
  ['own', 'From … to'],
]

const dayMs = 86_400_000

const dayOf = (ms: number): string => `${new Date(ms).toISOString().slice(0, 10)}T00:00:00Z`

/** Without a period the API returns this month so far. Both chosen days are included. */
export function rangeOf(period: string | undefined, from = '', to = ''): { from?: string; to?: string } {
  const today = Date.now()
  if (period === 'last-month') {
    const now = new Date(today)
    const [year, month] = [now.getUTCFullYear(), now.getUTCMonth()]
    return { from: dayOf(Date.UTC(year, month - 1, 1)), to: dayOf(Date.UTC(year, month, 1)) }
  }
  if (period === '7' || period === '30') return { from: dayOf(today - (Number(period) - 1) * dayMs) }
  if (period !== 'own') return {}
  return { ...(from && { from: `${from}T00:00:00Z` }), ...(to && { to: endOfDay(to) }) }
}
