import { Type, type Static } from 'typebox'

/** The currency is ISO 4217. */
export interface Money {
  /** Millionths of the unit: an integer, so that sums are exact. */
  amount: number
  currency: string
}

export const MoneySchema = Type.Object(
  {
    amount: Type.String({ pattern: '^\\d{1,9}(\\.\\d{1,6})?$', examples: ['0.00790'] }),
    currency: Type.String({ pattern: '^[A-Z]{3}$', description: 'ISO 4217.', examples: ['USD'] }),
  },
  { additionalProperties: false },
)

/** Millionths in a unit. */
export const millionths = 1_000_000

/** For amounts that the schema has checked. */
export const readAmount = (amount: string): number => Math.round(Number(amount) * millionths)

/** Five decimals, or six if needed. */
export const showMoney = (amount: number, currency: string): Static<typeof MoneySchema> => ({
  amount: (amount / millionths).toFixed(amount % 10 === 0 ? 5 : 6),
  currency,
})
