/** Webhooks for alerts: those that only fail, and those that were disabled for it. */
import type { Tx } from '../ground/db/db.ts'
import { firstIdAt } from '../ground/base/ids.ts'
import { nowMs } from '../ground/db/clock.ts'
import { idSql } from '../ground/db/span.ts'
import { attemptsIn } from '../post/attempt-rows.ts'
import type { Seen } from './alert-step.ts'

// A failed post is retried after 5 seconds: by then a brief failure is over. With less, a deployment is an alert.
const failingSeconds = 10
const failuresMin = 2
// After such a slow failure one post is enough, since its retry takes as long.
const slowMs = 5000
const secondTrySeconds = 30
// From the end of a post to its record in the endpoint's row.
const noteLateMs = 1000
const dayMs = 86_400_000
// Posts are tried for three days.
const eventDays = 5

/** Endpoints in trouble; few, by the partial indexes webhooks_failing, alerts_unclosed and webhooks_disabled. */
export async function seeWebhooks(tx: Tx): Promise<Seen[]> {
  return [...(await seeFailing(tx)), ...(await seeDisabled(tx))]
}

/**
 * Endpoints without a success for some seconds, and those with an alert. Each success clears `failing_since`, so an endpoint with successes in
 * between is not failing. Two posts must fail, or one slowly: an endpoint without posts is not failing.
 */
async function seeFailing(tx: Tx): Promise<Seen[]> {
  const { rows } = await tx.query<{
    accountId: string
    id: string
    failingSince: Date | null
    isDue: boolean
    isRecent: boolean
    isTold: boolean
  }>({
    name: 'see-failing-webhooks',
    text: `
      with told as materialized (
        select account_id, subject::uuid as id from alerts where type = 'webhook.failing' and closed_at is null
      )
      select w.account_id as "accountId", w.id, w.failing_since as "failingSince",
        coalesce(w.failing_since <= now() - make_interval(secs => $1), false) as "isDue",
        coalesce(w.failing_since > now() - make_interval(secs => $2), false) as "isRecent",
        exists (select from told where told.account_id = w.account_id and told.id = w.id) as "isTold"
      from (
        select account_id, id from webhooks where failing_since is not null
        union
        select account_id, id from told
      ) one
      join webhooks w using (account_id, id)
      where w.enabled`,
    values: [failingSeconds, secondTrySeconds],
  })
  const seen: Seen[] = []
  for (const { accountId, id, failingSince, isDue, isRecent, isTold } of rows) {
    const base = { type: 'webhook.failing', accountId, subject: id } as const
    if (failingSince === null) {
      const [last] = await readLast(tx, accountId, id, 1)
      // Without a post since, its settings were changed.
      seen.push({ ...base, sight: 'good', detail: { hasRecovered: last?.outcome === 'ok' } })
    } else {
      const failures = isDue && !isTold ? await readLast(tx, accountId, id, failuresMin, failingSince) : []
      const detail = { lastError: failures[0]?.error ?? null }
      const isSlow = isRecent && (failures[0]?.durationMs ?? 0) >= slowMs
      const isBad = isDue && (isTold || isSlow || failures.length >= failuresMin)
      seen.push({ ...base, sight: isBad ? 'bad' : 'between', detail })
    }
  }
  return seen
}

/**
 * The last posts to an endpoint, newest first: all, or those that failed since a time. Posts about failing endpoints do not count: two endpoints that
 * refuse only these would report each other forever. By the primary key of attempts, or attempts_failed_endpoint.
 */
async function readLast(
  tx: Tx,
  accountId: string,
  endpointId: string,
  limit: number,
  failedSince?: Date,
): Promise<{ outcome: string; error: string; durationMs: number }[]> {
  const from = Math.max((failedSince?.getTime() ?? 0) - noteLateMs, nowMs() - dayMs)
  const { rows } = await tx.query<{ outcome: string; error: string; durationMs: number }>(
    `select a.outcome, one.duration_ms as "durationMs",
       case when a.outcome = 'status' then 'status ' || a.status_code else a.outcome end as error
     from attempts a
     cross join lateral ${attemptsIn('a')} one
     left join events e
       on e.account_id = a.account_id
       and e.id = one.event_id
       and e.id >= ${idSql(firstIdAt(nowMs() - eventDays * dayMs))}
     where a.account_id = $1
       and a.endpoint_id = $2
       and a.id >= ${idSql(firstIdAt(from))}
       ${failedSince ? "and a.outcome <> 'ok'" : ''}
       and coalesce(e.type, '') not in ('webhook.failing', 'webhook.recovered')
     order by a.id desc, one.id desc
     limit ${limit}`,
    [accountId, endpointId],
  )
  return rows
}

/** Endpoints that were disabled without a request. */
async function seeDisabled(tx: Tx): Promise<Seen[]> {
  const { rows } = await tx.query<{ accountId: string; id: string; reason: string }>({
    name: 'see-webhooks',
    text: `
      select account_id as "accountId", id, disabled_reason as reason
      from webhooks
      where disabled_reason in ('gone', 'failing')
        and not enabled`,
  })
  return rows.map(({ accountId, id, reason }) => ({
    type: 'webhook.disabled',
    accountId,
    subject: id,
    sight: 'bad',
    detail: { reason },
  }))
}
