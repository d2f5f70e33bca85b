/** Erases a person's data from attempts, and deletes old ones. */
import type { Tx } from '../ground/db/db.ts'
import { spanOf } from '../ground/db/span.ts'
import { firstIdBehind } from '../ground/base/ids.ts'
import { attemptsIn, hasLater } from '../post/attempt-rows.ts'

/**
 * Removes responses to some events, and addresses that hold the number. A row of several posts becomes one of each, because the others keep
 * theirs. Indexes attempts_event and attempts_more.
 */
export async function forgetAnswers(
  tx: Tx,
  accountId: string,
  eventIds: readonly string[],
  number: string,
): Promise<void> {
  if (eventIds.length === 0) return
  const values = [accountId, eventIds, firstIdBehind(spanOf(eventIds).first), number]
  const tells = (a: string): string => `
        and (${a}.response_head is not null or ${a}.response_headers is not null or position($4 in ${a}.url) > 0)`
  await tx.query({
    name: 'part-answers',
    text: `
      with met as materialized (
        select distinct a.endpoint_id, a.id
        from unnest($2::uuid[]) as e (id)
        cross join lateral (
          select endpoint_id, id from attempts a
          where account_id = $1 and event_id = e.id and id >= $3 and more_event_ids is not null ${tells('a')}
          union all
          select endpoint_id, id from attempts a
          where account_id = $1 and ${hasLater('a', 'e.id')} and id >= $3 ${tells('a')}
        ) a
      ), alone as (
        update attempts a
        set more_event_ids = null, more_timings = null
        from met
        where a.account_id = $1 and a.endpoint_id = met.endpoint_id and a.id = met.id
      )
      insert into attempts (account_id, id, endpoint_id, event_id, try, outcome, status_code, response_head, duration_ms, created_at, url,
        header_names, batch_id, response_headers, connect_ms, first_byte_ms)
      select a.account_id, one.id, a.endpoint_id, one.event_id, a.try, a.outcome, a.status_code, a.response_head, one.duration_ms,
        one.created_at, a.url, a.header_names, a.batch_id, a.response_headers, one.connect_ms, one.first_byte_ms
      from met
      join attempts a on a.account_id = $1 and a.endpoint_id = met.endpoint_id and a.id = met.id
      cross join lateral ${attemptsIn('a')} one
      where one.id <> a.id`,
    values,
  })
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
        ${tells('a')}`,
    values,
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
