/** What a message costs: an estimate when it is accepted, the price when the carrier of the estimate has taken it. */
import { showMoney, type Money } from '../money.ts'
import type { MessageRow } from './message.ts'
import type { PlannedRoute } from './routing.ts'

/** What all segments of a message would cost at a carrier. */
export interface Estimate extends Money {
  carrierId: string
}

/** The estimate for the carrier that a message goes to first; null: no rate is known. */
export function estimateAt(
  { chain, prices }: PlannedRoute['choice'],
  carrierId: string | null,
  segments: number,
): Estimate | null {
  if (!prices || carrierId === null) return null
  const price = prices[chain.indexOf(carrierId)] ?? null
  return price && { amount: price.amount * segments, currency: price.currency, carrierId }
}

/** Whether an estimate is over the most that was asked for. In another currency it cannot be compared, and is. */
export const isOver = (estimate: Money | null, max: Money | undefined): boolean =>
  estimate !== null && max !== undefined && (estimate.currency !== max.currency || estimate.amount > max.amount)

/** The columns of a row for an estimate. */
export const costColumns = (
  estimate: Estimate | null,
): Pick<MessageRow, 'cost' | 'costCurrency' | 'costCarrierId'> => ({
  cost: estimate && showMoney(estimate.amount, estimate.currency).amount,
  costCurrency: estimate && estimate.currency,
  costCarrierId: estimate && estimate.carrierId,
})

/** The prices of a message as it is shown. Where another carrier took it than was thought, its price is not known. */
export function renderPrices(
  row: Pick<MessageRow, 'cost' | 'costCurrency' | 'costCarrierId' | 'carrierId' | 'sentAt'>,
) {
  const estimate = row.cost === null ? null : { amount: row.cost, currency: row.costCurrency ?? '' }
  const isTaken = row.sentAt !== null && row.carrierId === row.costCarrierId
  return { price: isTaken ? estimate : null, estimated_price: estimate }
}
