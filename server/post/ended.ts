import { arrayLiteral } from '../ground/db/array.ts'
import type { Db } from '../ground/db/db.ts'
import { dayOf, perDay } from '../ground/db/partitions.ts'
import { rowParameters } from '../ground/db/rows.ts'
import type { DuePost } from '../events/events.ts'
import { nearOf, rowIdOf } from './attempt-rows.ts'
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
 * Ends posts: deletes their rows (primary key), inserts failed ones again with a later due time, and records their attempts. A row that another
 * node took over after its lease and ended stays deleted. A row that this batch ends twice, because the clocks of lease and claim differ, counts
 * once, as done. Counts for replays (primary key), if any.
 */
export async function endPosts(db: Db, ended: Ended[]): Promise<void> {
  const { posts, attempts, statement } = ended.every((one) => isFinal(one)) ? plain : general
  const rows = rowsOfEnds(ended)
  // The later ones first: a row's events are a slice of these.
  const ordered = [...rows.flatMap(({ more }) => more), ...rows.map(({ first }) => first)]
  await db.query({
    ...statement(dayOf(rows.map(({ id }) => id))),
    values: [
      ...posts.encode(ordered, postPicks),
      ...attempts.encode(rows, attemptPicks),
      arrayLiteral(rows.flatMap(timingsOf)),
    ],
  })
}

/** A row to insert. */
interface AttemptRow {
  /** Later than all its events, and the same in each try to write it. */
  id: string
  first: Ended
  more: Ended[]
  /** Where `more` ends in a list of them all. */
  moreTo: number
}

/** The rows of some ends. A post that fails or is tried again has one alone. */
function rowsOfEnds(ended: readonly Ended[]): AttemptRow[] {
  const rows = new Map<string, AttemptRow>()
  for (const one of ended) {
    const id = rowIdOf(one.attemptId)
    const key = one.result.outcome === 'ok' && one.retryMs === null ? answerOf(one) : one.attemptId
    const row = rows.get(key)
    if (row) {
      row.more.push(one)
      row.id = id
    } else rows.set(key, { id, first: one, more: [], moreTo: 0 })
  }
  let moreTo = 0
  for (const row of rows.values()) row.moreTo = moreTo += row.more.length
  return [...rows.values()]
}

/** What posts in one row have in common. */
function answerOf({ post, url, batchId, headerNames, result }: Ended): string {
  const { statusCode, responseHeaders, responseHead } = result
  const to = post.targetId ?? post.endpointId
  return [
    to,
    nearOf(post.eventId),
    post.try,
    url,
    batchId,
    headerNames,
    statusCode,
    responseHeaders,
    responseHead,
  ].join('\n')
}

/** For `more_timings`. */
function timingsOf({ first, more }: AttemptRow): (number | null)[] {
  return more.flatMap(({ startedAt, result }) => [
    startedAt.getTime() - first.startedAt.getTime(),
    result.connectMs,
    result.firstByteMs,
    result.durationMs,
  ])
}

const postPicks = {
  event_id: (one: Ended) => one.post.eventId,
  due_at: (one: Ended) => one.post.dueAt,
  endpoint_id: (one: Ended) => one.post.endpointId,
  account_id: (one: Ended) => one.post.accountId,
  try: (one: Ended) => one.post.try,
  url: (one: Ended) => one.post.url,
  outcome: (one: Ended) => one.result.outcome,
  retry_ms: (one: Ended) => one.retryMs,
}
const attemptPicks = {
  id: ({ id }: AttemptRow) => id,
  event_id: ({ first }: AttemptRow) => first.post.eventId,
  created_at: ({ first }: AttemptRow) => first.startedAt,
  duration_ms: ({ first }: AttemptRow) => first.result.durationMs,
  connect_ms: ({ first }: AttemptRow) => first.result.connectMs,
  first_byte_ms: ({ first }: AttemptRow) => first.result.firstByteMs,
  more_from: ({ more, moreTo }: AttemptRow) => (more.length > 0 ? moreTo - more.length + 1 : null),
  more_to: ({ more, moreTo }: AttemptRow) => (more.length > 0 ? moreTo : null),
  account_id: ({ first }: AttemptRow) => first.post.accountId,
  to_id: ({ first }: AttemptRow) => first.post.targetId ?? first.post.endpointId,
  try: ({ first }: AttemptRow) => first.post.try,
  outcome: ({ first }: AttemptRow) => first.result.outcome,
  status_code: ({ first }: AttemptRow) => first.result.statusCode,
  response_head: ({ first }: AttemptRow) => first.result.responseHead,
  retry_ms: ({ first }: AttemptRow) => first.retryMs,
  url: ({ first }: AttemptRow) => first.url,
  header_names: ({ first }: AttemptRow) => first.headerNames?.join() ?? null,
  batch_id: ({ first }: AttemptRow) => first.batchId,
  response_headers: ({ first }: AttemptRow) => first.result.responseHeaders,
}

const attemptsAfter = (count: number) =>
  rowParameters(
    {
      id: 'uuid',
      event_id: 'uuid',
      created_at: 'timestamptz',
      duration_ms: 'int',
      connect_ms: 'int',
      first_byte_ms: 'int',
      more_from: 'int',
      more_to: 'int',
    },
    {
      account_id: 'uuid',
      to_id: 'uuid',
      try: 'int',
      outcome: 'text',
      status_code: 'int',
      response_head: 'text',
      retry_ms: 'int',
      url: 'text',
      header_names: 'text',
      batch_id: 'uuid',
      response_headers: 'text',
    },
    count,
  )

type Rows = { select: string; count: number }

// A slice without bounds is null.
const endOf = (day: string, posts: Rows, attempts: Rows, gone: string): string => `
      with ended as materialized (
        ${posts.select}
      ), ${gone}
      insert into attempts${day} (account_id, id, endpoint_id, event_id, try, outcome, status_code, response_head, duration_ms,
        next_attempt_at, created_at, url, header_names, batch_id, response_headers, connect_ms, first_byte_ms, more_event_ids,
        more_timings)
      select account_id, id, to_id, event_id, try, outcome, status_code, response_head, duration_ms,
        date_trunc('milliseconds', now()) + retry_ms * interval '1 millisecond', created_at, url,
        string_to_array(header_names, ','), batch_id, response_headers, connect_ms, first_byte_ms,
        ($1::uuid[])[more_from:more_to], ($${attempts.count + 1}::int[])[4 * more_from - 3:4 * more_to]
      from (${attempts.select}) a`

const endedOnly = `gone as (
        delete from outbox
        where ctid = any (array(select (
          select ctid from outbox where endpoint_id = e.endpoint_id and due_at = e.due_at and event_id = e.event_id
        ) from ended e))
      )`

// Only the process that deleted a row may restore or count it.
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

const own = { event_id: 'uuid', due_at: 'timestamptz' }

function endsBy<Common extends keyof typeof postPicks>(name: string, common: Record<Common, string>, gone: string) {
  const posts = rowParameters(own, common)
  const attempts = attemptsAfter(posts.count)
  return { posts, attempts, statement: perDay(name, (day) => endOf(day, posts, attempts, gone)) }
}

const again = { account_id: 'uuid', try: 'int', url: 'text', outcome: 'text', retry_ms: 'int' }
const general = endsBy('end-posts', { endpoint_id: 'uuid', ...again }, othersEnded)
/** Without retries and replays, rows are just deleted. */
const plain = endsBy('end-plain-posts', { endpoint_id: 'uuid' }, endedOnly)
