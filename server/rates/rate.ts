/** What a segment costs at a carrier: the rate cards of all carriers, compiled to be asked at every accept. */
import { nowMs } from '../ground/db/clock.ts'
import type { Money } from '../ground/base/money.ts'

/** A row of a carrier's card. */
export interface Rate {
  /** `*` (everywhere), a country (ISO 3166-1 alpha-2), or first digits of numbers; what says more goes first. */
  destination: string
  /** Of several rows of a destination the last one counts that has begun. */
  effectiveFrom: Date
  /** Of a segment. */
  price: Money
}

/** The price of a segment to a number (digits) at a time in milliseconds; null: the carrier has no rate for it. */
export type RateOf = (carrierId: string, to: string, country: string | null, atMs?: number) => Money | null

/** There are no rate cards. */
export const noRates: RateOf = () => null

interface Card {
  /** By destination, the latest first. */
  rates: Map<string, { fromMs: number; price: Money }[]>
  /** Lengths of its prefixes, longest first. */
  lengths: number[]
}

/** Compiles the cards of carriers. A look-up is a few probes of a hash table, whatever their size; without any card it costs nothing. */
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
