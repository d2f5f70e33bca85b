/** Retention settings of an account. privacy/retention-account.ts, retention-days.ts and ../audit/retention.ts apply them. */
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
  // Postings are retried for three days, and need their event.
  event_days: days(4, 'Events, and the attempts to post them.'),
  // Otherwise an attacker could outwait the log.
  audit_days: days(90, 'The audit log.'),
})
export type Retention = Static<typeof Retention>

export const RetentionChange = Type.Partial(Retention, { additionalProperties: false, minProperties: 1 })

const names = Object.keys(Retention.properties) as (keyof Retention)[]

/** Select expression for `Retention` of accounts under the alias; columns are named like the fields. */
export const retentionColumn = (a: string): string =>
  `json_build_object(${names.map((name) => `'${name}', ${a}.${name}`).join(', ')})`

/** The caller holds the row. Applies to existing data within an hour. @throws ApiError `validation_failed` if texts would outlive their messages. */
export async function changeRetention(
  tx: Tx,
  accountId: string,
  change: Static<typeof RetentionChange>,
): Promise<void> {
  const { rows } = await tx.query<Retention>(
    `update accounts
     set ${names.map((name, i) => `${name} = coalesce($${i + 2}, ${name})`).join(', ')}
     where id = $1
     returning ${names.join(', ')}`,
    [accountId, ...names.map((name) => change[name] ?? null)],
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
