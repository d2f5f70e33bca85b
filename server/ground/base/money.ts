/** Money: whole millionths of a currency's unit, and how the API writes it. */
import { Type, type Static } from 'typebox'

/** An amount and its currency (ISO 4217). */
export interface Money {
  /** Millionths of the unit: an integer, so that sums are exact. */
  amount: number
  currency: string
}

/** An amount of money as the API writes it. */
export const MoneySchema = Type.Object(
  {
    amount: Type.String({ pattern: '^\\d{1,9}(\\.\\d{1,6})?$', examples: ['0.00790'] }),
    currency: Type.String({ pattern: '^[A-Z]{3}$', description: 'ISO 4217.', examples: ['USD'] }),
  },
  { additionalProperties: false },
)

/** Millionths in a unit. */
export const millionths = 1_000_000

/** Millionths of an amount that the schema took. */
export const readAmount = (amount: string): number => Math.round(Number(amount) * millionths)

/** An amount with five decimals, or six where it has them. */
export const showMoney = (amount: number, currency: string): Static<typeof MoneySchema> => ({
  amount: (amount / millionths).toFixed(amount % 10 === 0 ? 5 : 6),
  currency,
})
