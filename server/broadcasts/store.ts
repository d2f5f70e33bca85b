/** The SQL of broadcasts: their rows, and counts of their pending messages. */
import type { Db, Queryable, Tx } from '../ground/db/db.ts'
import { found } from '../ground/base/errors.ts'
import { parseId } from '../ground/base/ids.ts'
import { counts } from '../usage/counts-sql.ts'
import type { PagePlace } from '../ground/http/page.ts'
import { listRows } from '../ground/http/search.ts'
import type { BroadcastRow, BroadcastStatus, HoldReason } from './broadcast.ts'

/** SQL that counts the contacts of a broadcast before they become recipients: a stored count, or those with tags by the primary key. */
export const audienceOf = (b: string): string => `case
    when ${b}.audience_tags is null then (select contacts_count from campaigns where account_id = ${b}.account_id and id = ${b}.campaign_id)
    else (select count(*) from contacts where account_id = ${b}.account_id and campaign_id = ${b}.campaign_id and tags && ${b}.audience_tags)
  end`

/** Select list for `BroadcastRow` under the alias. Before the start, `recipients` is the size of the audience. */
export const columnsOfBroadcast = (
  b: string,
): string => `${b}.account_id as "accountId", ${b}.id, ${b}.campaign_id as "campaignId", ${b}.status, ${b}.body,
  ${b}.is_test as "isTest", ${b}.audience_tags as "audienceTags", ${b}.send_at as "sendAt",
  to_char(${b}.send_at_local, 'YYYY-MM-DD"T"HH24:MI:SS') as "sendAtLocal", ${b}.timezone, ${b}.is_expanded as "isExpanded",
  case
    when ${b}.status in ('awaiting_approval', 'scheduled', 'paused') and ${b}.started_at is null then ${audienceOf(b)}
    else ${b}.recipients
  end as recipients,
  ${b}.messages, ${b}.segments, ${b}.skipped, ${b}.is_settled as "isSettled", ${b}.created_at as "createdAt",
  ${b}.started_at as "startedAt", ${b}.completed_at as "completedAt", ${b}.ordered_by as "orderedBy",
  ${b}.decided_by as "decidedBy", ${b}.decided_at as "decidedAt", ${b}.decision,
  ${b}.approved_recipients as "approvedRecipients", ${b}.hold_reason as "holdReason",
  ${b}.hold_until as "holdUntil", ${b}.hold_guard_id as "holdGuardId"`

export type NewBroadcast = Pick<
  BroadcastRow,
  'id' | 'campaignId' | 'body' | 'isTest' | 'audienceTags' | 'sendAtLocal' | 'timezone'
> & { sendAt: Date | null; orderedBy: string; needsApproval: boolean }

/** Null if its campaign has an unfinished one (unique index broadcasts_open). A local time begins 14 hours ahead of UTC, in the earliest zone. */
export async function insertBroadcast(tx: Tx, accountId: string, one: NewBroadcast): Promise<BroadcastRow | null> {
  const { rows } = await tx.query<BroadcastRow>(
    `insert into broadcasts as b (account_id, id, campaign_id, status, body, is_test, audience_tags, send_at, send_at_local, timezone, ordered_by)
     select $1, $2, $3, case when $11 then 'awaiting_approval' when at > now() then 'scheduled' else 'sending' end, $4, $5, $6, at, $8::timestamp, $9, $10
     from (select coalesce($7::timestamptz, ($8::timestamp at time zone 'UTC') - interval '14 hours', now()) as at) time
     on conflict (account_id, campaign_id) where status in ('awaiting_approval', 'scheduled', 'sending', 'paused') do nothing
     returning ${columnsOfBroadcast('b')}`,
    [
      accountId,
      one.id,
      one.campaignId,
      JSON.stringify(one.body),
      one.isTest,
      one.audienceTags,
      one.sendAt,
      one.sendAtLocal,
      one.timezone,
      one.orderedBy,
      one.needsApproval,
    ],
  )
  return rows[0] ?? null
}

/** By primary key. */
export async function findBroadcast(db: Queryable, accountId: string, id: string): Promise<PacedBroadcast | null> {
  const { rows } = await db.query<PacedBroadcast>(
    `select ${columnsOfBroadcast('b')}, c.pace::float8 as pace,
       coalesce((b.body ->> 'validity_period')::int, c.validity_period) as "validitySeconds",
       b.send_at_local is null and (b.is_test or a.settings -> 'guards' ->> 'recipients_above' is null) as "mayBegin"
     from broadcasts b
     join accounts a on a.id = b.account_id
     join campaigns c on c.account_id = b.account_id and c.id = b.campaign_id
     where b.account_id = $1 and b.id = $2`,
    [accountId, id],
  )
  return rows[0] ?? null
}

/** @throws ApiError `not_found`. */
export async function requireBroadcast(db: Queryable, accountId: string, shownId: string): Promise<PacedBroadcast> {
  const id = parseId('brc', shownId)
  return found(id && (await findBroadcast(db, accountId, id)), 'The account has no such broadcast.')
}

/** A broadcast with the pace of its campaign in segments per second, and the requested validity. */
export type PacedBroadcast = BroadcastRow & {
  pace: number | null
  validitySeconds: number | null
  /**
   * May send before all are recipients: they are taken in the order of their creation, and no approval depends on their number. With times
   * of their own they may not, because a later piece may have earlier ones.
   */
  mayBegin: boolean
}

/** In the order that `buildPage` expects: of a campaign by broadcasts_campaign, of an account by the primary key. */
export const listBroadcasts = (
  db: Queryable,
  accountId: string,
  { campaignId, status }: { campaignId?: string; status?: BroadcastStatus | undefined },
  ...place: PagePlace
): Promise<BroadcastRow[]> => {
  const key = { ...(campaignId && { campaign_id: campaignId }), ...(status && { status }) }
  return listRows(db, { table: 'broadcasts', columns: columnsOfBroadcast('t'), accountId, key }, ...place)
}

/** Null if it is in none of the states. The campaign follows unless it `isApart`. Locks both rows, first the broadcast (broadcasts_campaign). */
export async function moveBroadcast(
  tx: Tx,
  accountId: string,
  campaignId: string,
  from: readonly BroadcastStatus[],
  to: BroadcastStatus,
  isApart: (row: BroadcastRow) => Promise<boolean> = () => Promise.resolve(false),
): Promise<BroadcastRow | null> {
  const { rows } = await tx.query<BroadcastRow>(
    `update broadcasts b
     set status = case when $4 = 'sending' and b.send_at > now() then 'scheduled' else $4 end,
       completed_at = case when $4 in ('completed', 'canceled') then now() end
     where b.account_id = $1
       and b.campaign_id = $2
       and b.status = any ($3)
     returning ${columnsOfBroadcast('b')}`,
    [accountId, campaignId, from, to],
  )
  const [row] = rows
  if (row && !(await isApart(row))) await setCampaignStatus(tx, accountId, campaignId, row.status)
  return row ?? null
}

/** By primary key, whose row it locks. */
export async function setCampaignStatus(
  tx: Tx,
  accountId: string,
  campaignId: string,
  status: BroadcastStatus | 'active' | 'archived',
): Promise<void> {
  await tx.query(`update campaigns set status = $3, updated_at = now() where account_id = $1 and id = $2`, [
    accountId,
    campaignId,
    status,
  ])
}

interface Waiting {
  accountId: string
  id: string
}

const waitingPage = 1000

// When a broadcast has work: a canceled one does not wait for its time. Must match the index broadcasts_waiting.
const dueAt = (b: string): string => `case when ${b}.status = 'canceled' then ${b}.created_at else ${b}.send_at end`

const hasWork = (b: string): string =>
  `(${b}.status in ('scheduled', 'sending') or (${b}.status = 'canceled' and not ${b}.is_settled))`

/** SQL for the time of the next broadcast with work. By broadcasts_waiting. */
export const nextDue = `select ${dueAt('b')} from broadcasts b where ${hasWork('b')} order by 1 limit 1`

/**
 * Broadcasts with work, longest wait first, in pages: most may be waiting for something else. By the partial index broadcasts_waiting. A
 * held broadcast is retried when the guard is released, and now and then, because settings may change. A hold does not stop its expansion;
 * otherwise contacts added during the hold would join.
 */
export async function* findWaiting(db: Db): AsyncGenerator<Waiting> {
  for (let last: Waiting | undefined, isMore = true; isMore;) {
    const page: Waiting[] = await readWaiting(db, last)
    yield* page
    last = page.at(-1)
    isMore = page.length === waitingPage
  }
}

async function readWaiting(db: Db, after: Waiting | undefined): Promise<Waiting[]> {
  const { rows } = await db.query<Waiting>({
    name: 'find-waiting-broadcasts',
    text: `
      with last as materialized (
        select ${dueAt('b')} as due_at, id from broadcasts b where account_id = $1 and id = $2
      )
      select b.account_id as "accountId", b.id
      from broadcasts b
      join accounts a on a.id = b.account_id and a.status = 'active'
      where ${hasWork('b')}
        and ${dueAt('b')} <= now()
        and (${dueAt('b')}, b.id) > (coalesce((select due_at from last), '-infinity'), coalesce((select id from last), '00000000-0000-0000-0000-000000000000'))
        and (
          b.retry_at is null
          or not b.is_expanded
          or b.retry_at <= now()
          or b.status = 'canceled'
          or exists (select from guards g where g.account_id = b.account_id and g.id = b.hold_guard_id and g.released_at is not null)
        )
      order by ${dueAt('b')}, b.id
      limit ${waitingPage}`,
    values: [after?.accountId ?? null, after?.id ?? null],
  })
  return rows
}

/** Null if another process holds it, or it is over. By primary key. */
export async function lockBroadcast(tx: Tx, accountId: string, id: string): Promise<BroadcastRow | null> {
  const { rows } = await tx.query<BroadcastRow>({
    name: 'lock-broadcast',
    text: `
      select ${columnsOfBroadcast('b')}
      from broadcasts b
      where b.account_id = $1
        and b.id = $2
        and ${hasWork('b')}
        and ${dueAt('b')} <= now()
      for update skip locked`,
    values: [accountId, id],
  })
  return rows[0] ?? null
}

export async function beginBroadcast(tx: Tx, { accountId, id, campaignId }: BroadcastRow): Promise<void> {
  await tx.query(
    `update broadcasts set status = 'sending', started_at = coalesce(started_at, now()) where account_id = $1 and id = $2`,
    [accountId, id],
  )
  await setCampaignStatus(tx, accountId, campaignId, 'sending')
}

// The settings of a guard may change, or the time zone of its day.
const retrySeconds = 15

/** Records that the remaining recipients wait for the end of a guard, or no longer do (null). By primary key. */
export async function holdBroadcast(
  tx: Tx,
  { accountId, id }: BroadcastRow,
  hold: { reason: HoldReason; guardId: string | null; until: Date } | null,
): Promise<BroadcastRow | null> {
  const { rows } = await tx.query<BroadcastRow>(
    `update broadcasts b
     set hold_reason = $3::text, hold_guard_id = $4, hold_until = $5::timestamptz,
       retry_at = case when $3 is not null then least($5, now() + interval '${retrySeconds} seconds') end
     where b.account_id = $1 and b.id = $2
     returning ${columnsOfBroadcast('b')}`,
    [accountId, id, hold?.reason ?? null, hold?.guardId ?? null, hold?.until ?? null],
  )
  return rows[0] ?? null
}

/** Counts queued messages up to a bound, by the queue's key; those that wait for another campaign's pace or pause block none and do not count. */
export async function countQueued(
  db: Db,
  { accountId, campaignId }: Pick<BroadcastRow, 'accountId' | 'campaignId'>,
  limit: number,
): Promise<number> {
  const { rows } = await db.query<{ count: number }>({
    name: 'count-queued',
    text: `
      select count(*)::int as count
      from (
        select 1
        from (
          select id from lanes where account_id = $1
          union all
          select b.id from backlogs b join lanes l on l.id = b.lane_id
          where l.account_id = $1 and (b.campaign_id is null or b.campaign_id = $2)
        ) part
        cross join lateral (select 1 from queue q where q.lane_id = part.id limit $3) waiting
        limit $3
      ) bounded`,
    values: [accountId, campaignId, limit],
  })
  return rows[0]?.count ?? 0
}

/** Counts pending messages by tallies_campaign: queued, scheduled or with a link; optionally only those accepted up to the hour of a time. */
export async function countWaiting(
  db: Queryable,
  { accountId, campaignId }: BroadcastRow,
  until: Date | null = null,
): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    `select coalesce(sum(messages), 0)::float8 as count
     from ${counts(`account_id = $1 and campaign_id = $2 and hour <= coalesce($3::timestamptz, 'infinity')`)} c
     where bucket = 'queued'`,
    [accountId, campaignId, until],
  )
  return rows[0]?.count ?? 0
}

export async function settleBroadcast(tx: Tx, { accountId, id }: BroadcastRow): Promise<void> {
  await tx.query(`update broadcasts set is_settled = true where account_id = $1 and id = $2`, [accountId, id])
}
