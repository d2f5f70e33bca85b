/** What a message costs: an estimate when it is accepted, the price when a carrier has taken it. */
import { showMoney, type Money } from '../ground/base/money.ts'
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

/** The columns of a row for an estimate. Its carrier is named where another of the chain has a price, too: that one may take it. */
export const costColumns = ({
  estimate,
  carrierId,
  route: { choice },
}: {
  estimate: Estimate | null
  carrierId: string | null
  route: Pick<PlannedRoute, 'choice'>
}): Pick<MessageRow, 'cost' | 'costCurrency' | 'costCarrierId' | 'firstEstimate'> => ({
  cost: estimate && showMoney(estimate.amount, estimate.currency).amount,
  costCurrency: estimate && estimate.currency,
  costCarrierId: choice.prices ? carrierId : null,
  firstEstimate: null,
})

/** The prices of a message as it is shown: what was estimated when it was accepted, and what the carrier costs that has taken it. */
export function renderPrices(
  row: Pick<MessageRow, 'cost' | 'costCurrency' | 'costCarrierId' | 'firstEstimate' | 'carrierId' | 'sentAt'>,
) {
  const cost = row.cost === null ? null : { amount: row.cost, currency: row.costCurrency ?? '' }
  const [amount = '', currency = ''] = row.firstEstimate?.split(' ') ?? []
  const first = amount === '' ? null : { amount, currency }
  const isTaken = row.sentAt !== null && row.carrierId === row.costCarrierId
  return { price: isTaken ? cost : null, estimated_price: row.firstEstimate === null ? cost : first }
}
