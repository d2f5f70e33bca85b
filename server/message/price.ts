/** The cost of a message: an estimate at acceptance, the price once a carrier has it. */
import { showMoney, type Money } from '../ground/base/money.ts'
import type { MessageRow } from './message.ts'
import type { PlannedRoute } from './routing.ts'

export interface Estimate extends Money {
  carrierId: string
}

/** The estimate for a message's first carrier; null: no rate is known. */
export function estimateAt(
  { chain, prices }: PlannedRoute['choice'],
  carrierId: string | null,
  segments: number,
): Estimate | null {
  if (!prices || carrierId === null) return null
  const price = prices[chain.indexOf(carrierId)] ?? null
  return price && { amount: price.amount * segments, currency: price.currency, carrierId }
}

/** Whether an estimate exceeds the maximum. In another currency it is not comparable, and does. */
export const isOver = (estimate: Money | null, max: Money | undefined): boolean =>
  estimate !== null && max !== undefined && (estimate.currency !== max.currency || estimate.amount > max.amount)

/** Columns for an estimate. Names its carrier if another in the chain has a price too, and may take the message. */
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

/** The prices of a message for display: the estimate at acceptance, and the price of the carrier that took it. */
export function renderPrices(
  row: Pick<MessageRow, 'cost' | 'costCurrency' | 'costCarrierId' | 'firstEstimate' | 'carrierId' | 'sentAt'>,
) {
  const cost = row.cost === null ? null : { amount: row.cost, currency: row.costCurrency ?? '' }
  const [amount = '', currency = ''] = row.firstEstimate?.split(' ') ?? []
  const first = amount === '' ? null : { amount, currency }
  const isTaken = row.sentAt !== null && row.carrierId === row.costCarrierId
  return { price: isTaken ? cost : null, estimated_price: row.firstEstimate === null ? cost : first }
}
