/**
 * How long an account keeps what it has: the settings. What they do is in privacy/retention-account.ts, retention-days.ts and
 * ../audit/retention.ts.
 */
import { Type, type Static } from 'typebox'
import type { Tx } from '../ground/db/db.ts'
import { invalid } from '../ground/base/errors.ts'

const daysMax = 36_500
const days = (minimum: number, description: string) => Type.Integer({ minimum, maximum: daysMax, description })

/** Days from the acceptance of a message, or from the event. */
export const Retention = Type.Object({
  message_body_days: days(0, 'Texts of final messages; 0: only until they are final.'),
  reply_body_days: days(0, 'Texts of replies; 0: two minutes.'),
  message_days: days(1, 'Messages without their texts: numbers, times, outcomes.'),
  // Posts are retried for three days, and need their event.
  event_days: days(4, 'Events, and the attempts to post them.'),
  // Shorter, and who wants to hide something would only have to wait a while.
  audit_days: days(90, 'The audit log.'),
})
export type Retention = Static<typeof Retention>

/** As a change: what is not named stays. */
export const RetentionChange = Type.Partial(Retention, { additionalProperties: false, minProperties: 1 })

/** Select expression for `Retention`, of accounts under the alias. */
export const retentionColumn = (a: string): string => `json_build_object('message_body_days', ${a}.message_body_days,
          'reply_body_days', ${a}.reply_body_days, 'message_days', ${a}.message_days, 'event_days', ${a}.event_days,
          'audit_days', ${a}.audit_days)`

/**
 * Changes how long things are kept; by the primary key, whose row is locked by the caller. It holds for what there is, too, within an hour.
 * @throws ApiError `validation_failed` where texts were to outlive their messages.
 */
export async function changeRetention(
  tx: Tx,
  accountId: string,
  change: Static<typeof RetentionChange>,
): Promise<void> {
  const { rows } = await tx.query<Retention>(
    `update accounts
     set message_body_days = coalesce($2, message_body_days), reply_body_days = coalesce($3, reply_body_days),
       message_days = coalesce($4, message_days), event_days = coalesce($5, event_days),
       audit_days = coalesce($6, audit_days)
     where id = $1
     returning message_body_days, reply_body_days, message_days, event_days`,
    [
      accountId,
      change.message_body_days ?? null,
      change.reply_body_days ?? null,
      change.message_days ?? null,
      change.event_days ?? null,
      change.audit_days ?? null,
    ],
  )
  const after = rows[0]
  const errors = (['message_body_days', 'reply_body_days'] as const)
    .filter((name) => after && after[name] > after.message_days)
    .map((name) => ({
      pointer: `#/retention/${change[name] === undefined ? 'message_days' : name}`,
      code: 'out_of_range' as const,
      detail: `keeps texts longer than their messages: ${name} must be at most message_days`,
    }))
  if (errors.length > 0) throw invalid(errors)
}
