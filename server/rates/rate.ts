/** The price of a segment at a carrier: all rate cards, compiled for look-ups at every accept. */
import { nowMs } from '../ground/db/clock.ts'
import type { Money } from '../ground/base/money.ts'

export interface Rate {
  /** `*` (everywhere), a country (ISO 3166-1 alpha-2), or first digits of numbers; the most specific wins. */
  destination: string
  /** The latest row that has begun applies. */
  effectiveFrom: Date
  /** Per segment. */
  price: Money
}

/** The price of a segment to a number (digits) at a time in milliseconds; null: the carrier has no rate for it. */
export type RateOf = (carrierId: string, to: string, country: string | null, atMs?: number) => Money | null

export const noRates: RateOf = () => null

interface Card {
  /** Latest first. */
  rates: Map<string, { fromMs: number; price: Money }[]>
  /** Lengths of the prefixes, longest first. */
  lengths: number[]
}

/** Compiles cards. A look-up takes a few hash probes at any size, and nothing without cards. */
export function compileRates(rows: readonly (Rate & { carrierId: string })[]): RateOf {
  const cards = new Map<string, Card>()
  for (const { carrierId, destination, effectiveFrom, price } of rows) {
    let card = cards.get(carrierId)
    if (!card) cards.set(carrierId, (card = { rates: new Map(), lengths: [] }))
    const one = { fromMs: effectiveFrom.getTime(), price }
    const known = card.rates.get(destination)
    if (known) known.push(one)
    else card.rates.set(destination, [one])
    if (/^\d/.test(destination) && !card.lengths.includes(destination.length)) card.lengths.push(destination.length)
  }
  if (cards.size === 0) return noRates
  for (const { rates, lengths } of cards.values()) {
    for (const list of rates.values()) list.sort((a, b) => b.fromMs - a.fromMs)
    lengths.sort((a, b) => b - a)
  }
  return (carrierId, to, country, atMs = nowMs()) => {
    const card = cards.get(carrierId)
    if (!card) return null
    const find = (destination: string): Money | null =>
      card.rates.get(destination)?.find(({ fromMs }) => fromMs <= atMs)?.price ?? null
    for (const length of card.lengths) {
      const price = find(to.slice(0, length))
      if (price) return price
    }
    return (country === null ? null : find(country)) ?? find('*')
  }
}
