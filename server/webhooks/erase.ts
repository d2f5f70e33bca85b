/** Erases a person's data from attempts, and deletes old ones. */
import type { Tx } from '../ground/db/db.ts'
import { spanOf } from '../ground/db/span.ts'
import { firstIdBehind } from '../ground/base/ids.ts'

/** Removes responses to some events, and addresses that hold the number. Index attempts_event. */
export async function forgetAnswers(
  tx: Tx,
  accountId: string,
  eventIds: readonly string[],
  number: string,
): Promise<void> {
  if (eventIds.length === 0) return
  await tx.query({
    name: 'forget-answers',
    text: `
      update attempts a
      set response_head = null,
        response_headers = null,
        url = case when position($4 in a.url) = 0 then a.url end
      from unnest($2::uuid[]) as e (id)
      where a.account_id = $1
        and a.event_id = e.id
        and a.id >= $3
        and (a.response_head is not null or a.response_headers is not null or position($4 in a.url) > 0)`,
    values: [accountId, eventIds, firstIdBehind(spanOf(eventIds).first), number],
  })
}

/** Deletes some of an account's attempts before an id; returns their number. By the prefix of the primary key, in days before the id. */
export async function deleteAttempts(tx: Tx, accountId: string, before: string, limit: number): Promise<number> {
  const { rowCount } = await tx.query({
    name: 'delete-attempts',
    text: `
      delete from attempts
      where account_id = $1
        and id < $2
        and (endpoint_id, id) in (
          select endpoint_id, id
          from attempts
          where account_id = $1
            and id < $2
          limit $3
        )`,
    values: [accountId, before, limit],
  })
  return rowCount ?? 0
}
