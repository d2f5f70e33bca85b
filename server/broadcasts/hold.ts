/** Refusals that hold a broadcast, instead of skipping a recipient. */
import type { Accepted, Refusal } from '../message/draft.ts'
import type { HoldReason } from './broadcast.ts'

const reasons: Partial<Record<Refusal, HoldReason>> = {
  spend_limit_reached: 'spend',
  country_limit_reached: 'country_limit',
  fraud_suspected: 'velocity',
}

/** Whether this recipient and all behind it wait: for the end of a guard, or of a suspension that began meanwhile. */
export const isLeft = (result: Accepted): boolean =>
  holdReasonOf(result) !== null || (result.kind === 'refused' && result.refusal === 'account_suspended')

/** The guard that holds them, or null. */
export const holdReasonOf = (result: Accepted | undefined): HoldReason | null =>
  result?.kind === 'refused' ? (reasons[result.refusal] ?? null) : null
