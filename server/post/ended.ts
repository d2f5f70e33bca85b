import type { Db } from '../ground/db/db.ts'
import { dayOf, perDay } from '../ground/db/partitions.ts'
import { rowParameters } from '../ground/db/rows.ts'
import type { DuePost } from '../events/events.ts'
import type { PostResult } from './exchange.ts'

export interface Ended {
  post: DuePost
  attemptId: string
  startedAt: Date
  /** Its destination. */
  url: string
  headerNames: readonly string[] | null
  batchId: string | null
  result: PostResult
  /** Delay of the next try; null: it succeeded, or this was the last attempt. */
  retryMs: number | null
}

/** Whether its row is only deleted: no retry follows, and no replay counts it. */
export const isFinal = ({ retryMs, post }: Ended): boolean => retryMs === null && post.targetId === undefined

/**
 * Ends posts: deletes their rows (primary key), inserts failed ones again with a later due time, and records one attempt each. A row that another
 * node took over after its lease and ended stays deleted. A row that this batch ends twice, because the clocks of lease and claim differ, counts
 * once, as done. Counts for replays (primary key), if any.
 */
export async function endPosts(db: Db, ended: Ended[]): Promise<void> {
  const isPlain = ended.every((one) => isFinal(one))
  await db.query({
    ...(isPlain ? plainEndStatement : endStatement)(dayOf(ended.map((one) => one.attemptId))),
    values: endedRows.encode(ended, {
      event_id: (one) => one.post.eventId,
      due_at: (one) => one.post.dueAt,
      attempt_id: (one) => one.attemptId,
      started_at: (one) => one.startedAt,
      duration_ms: (one) => one.result.durationMs,
      connect_ms: (one) => one.result.connectMs,
      first_byte_ms: (one) => one.result.firstByteMs,
      endpoint_id: (one) => one.post.endpointId,
      account_id: (one) => one.post.accountId,
      try: (one) => one.post.try,
      url: (one) => one.post.url,
      to_id: (one) => one.post.targetId ?? one.post.endpointId,
      outcome: (one) => one.result.outcome,
      status_code: (one) => one.result.statusCode,
      response_head: (one) => one.result.responseHead,
      retry_ms: (one) => one.retryMs,
      to_url: (one) => one.url,
      header_names: (one) => one.headerNames?.join() ?? null,
      batch_id: (one) => one.batchId,
      response_headers: (one) => one.result.responseHeaders,
    }),
  })
}

const endedRows = rowParameters(
  {
    event_id: 'uuid',
    due_at: 'timestamptz',
    attempt_id: 'uuid',
    started_at: 'timestamptz',
    duration_ms: 'int',
    connect_ms: 'int',
    first_byte_ms: 'int',
  },
  {
    endpoint_id: 'uuid',
    account_id: 'uuid',
    try: 'int',
    url: 'text',
    to_id: 'uuid',
    outcome: 'text',
    status_code: 'int',
    response_head: 'text',
    retry_ms: 'int',
    to_url: 'text',
    header_names: 'text',
    batch_id: 'uuid',
    response_headers: 'text',
  },
)

// Without retries and replays, rows are just deleted; otherwise only the process that deleted a row may restore or count it.
const endOf = (day: string, isPlain: boolean): string => `
      with ended as materialized (
        ${endedRows.select}
      ), ${
        isPlain
          ? `gone as (
        delete from outbox
        where ctid = any (array(select (
          select ctid from outbox where endpoint_id = e.endpoint_id and due_at = e.due_at and event_id = e.event_id
        ) from ended e))
      )`
          : othersEnded
      }
      insert into attempts${day} (account_id, id, endpoint_id, event_id, try, outcome, status_code, response_head, duration_ms,
        next_attempt_at, created_at, url, header_names, batch_id, response_headers, connect_ms, first_byte_ms)
      select account_id, attempt_id, to_id, event_id, try, outcome, status_code, response_head, duration_ms,
        date_trunc('milliseconds', now()) + retry_ms * interval '1 millisecond', started_at, to_url,
        string_to_array(header_names, ','), batch_id, response_headers, connect_ms, first_byte_ms
      from ended`

const othersEnded = `found as materialized (
        select e.endpoint_id, e.due_at, e.event_id, e.account_id, e.try, e.url, e.retry_ms, e.outcome, o.row_at, o.target_id, o.message_id,
          o.sequence
        from ended e
        cross join lateral (
          select ctid as row_at, target_id, message_id, sequence
          from outbox
          where endpoint_id = e.endpoint_id and due_at = e.due_at and event_id = e.event_id
          offset 0
        ) o
      ), gone as (
        delete from outbox where ctid = any (array(select row_at from found)) returning endpoint_id, due_at, event_id
      ), removed as materialized (
        select distinct on (endpoint_id, due_at, event_id) *
        from found
        where (endpoint_id, due_at, event_id) in (select endpoint_id, due_at, event_id from gone)
        order by endpoint_id, due_at, event_id, retry_ms nulls first
      ), again as (
        insert into outbox (endpoint_id, due_at, event_id, account_id, try, url, target_id, message_id, sequence)
        select endpoint_id, date_trunc('milliseconds', now()) + retry_ms * interval '1 millisecond', event_id, account_id, try + 1, url,
          target_id, message_id, sequence
        from removed
        where retry_ms is not null
        on conflict do nothing
      ), replayed as (
        update replays r
        set delivered = r.delivered + over.delivered, failed = r.failed + over.failed
        from (
          select account_id, endpoint_id, count(*) filter (where outcome = 'ok') as delivered,
            count(*) filter (where outcome <> 'ok') as failed
          from removed
          where target_id <> endpoint_id
            and retry_ms is null
          group by account_id, endpoint_id
        ) over
        where r.account_id = over.account_id
          and r.id = over.endpoint_id
      )`

const endStatement = perDay('end-posts', (day) => endOf(day, false))
const plainEndStatement = perDay('end-plain-posts', (day) => endOf(day, true))
