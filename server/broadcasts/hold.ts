/** What lets a broadcast wait where it is, instead of passing over a recipient. */
import type { Accepted, Refusal } from '../message/draft.ts'
import type { HoldReason } from './broadcast.ts'

const reasons: Partial<Record<Refusal, HoldReason>> = {
  spend_limit_reached: 'spend',
  country_limit_reached: 'country_limit',
  fraud_suspected: 'velocity',
}

/** Whether a recipient and all behind it are left for later: for the end of a guard, or of the suspension that came while they had their turn. */
export const isLeft = (result: Accepted): boolean =>
  holdReasonOf(result) !== null || (result.kind === 'refused' && result.refusal === 'account_suspended')

/** The guard that they wait for; null: none. */
export const holdReasonOf = (result: Accepted | undefined): HoldReason | null =>
  result?.kind === 'refused' ? (reasons[result.refusal] ?? null) : null
