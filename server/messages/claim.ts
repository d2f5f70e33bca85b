/** Claim: from the queue to intents, in batches a lane; and everything else that the queue's rows wait for. */
import { inTransaction, type Db, type Tx } from '../db/db.ts'
import type { Outbox, Posting, Subscriptions } from '../events.ts'
import type { Handover } from './handover.ts'
import { recordMoves, type Moved } from './ledger.ts'
import { messageColumns, type MessageRow, type MessageType, type Status } from './message.ts'

interface QueueContext {
  db: Db
  outbox: Outbox
  subscriptions: Subscriptions
}

/** A lane with something in it. */
export interface Lane {
  id: string
  type: MessageType
}

/** Lanes that have rows, are not paused and whose account is not suspended, the oldest message first within a type. One probe of the queue's key a lane. */
export async function findLanes(db: Db): Promise<Lane[]> {
  const { rows } = await db.query<Lane>({
    name: 'find-lanes',
    text: `
      select l.id, l.type
      from lanes l
      join accounts a on a.id = l.account_id and a.status = 'active'
      cross join lateral (select message_id from queue where lane_id = l.id order by message_id limit 1) q
      where not l.is_paused
      order by q.message_id`,
  })
  return rows
}

/** What a claim took. `claimed` counts queue rows, also those that were not to be sent any more. */
interface Claim {
  handovers: Handover[]
  claimed: number
  lastId: string | null
}

/**
 * Claims up to `limit` messages of a lane above the id `after` for this node's links: their queue rows go, their intents come, in one
 * transaction with the checks that must hold now: not expired, not opted out, still queued, this node not fenced. What fails a check
 * gets its final state here; what belongs to a carrier without a link here is held for a few seconds. Returns after the commit: bytes
 * may be written.
 */
export async function claimMessages(
  context: QueueContext,
  nodeId: string,
  links: readonly { id: string; carrierId: string }[],
  lane: string,
  after: string,
  limit: number,
): Promise<Claim> {
  const { db, outbox } = context
  let postings: Posting[] = []
  const rows = await inTransaction(db, async (tx) => {
    const result = await tx.query<MessageRow & { linkId: string; pending: number[] | null; queueId: string }>({
      name: 'claim-messages',
      text: claimSql,
      values: [nodeId, lane, after, limit, links.map((link) => link.id), links.map((link) => link.carrierId)],
    })
    const ended = result.rows.filter((row) => row.id !== null && row.status !== 'sending' && row.status !== 'queued')
    postings = await recordMoves(
      tx,
      ended.map((row) => ({ row, from: 'queued' })),
      context,
    )
    return result.rows
  })
  outbox.offer(postings)
  const lastId = rows.reduce<string | null>(
    (last, row) => (last === null || row.queueId > last ? row.queueId : last),
    null,
  )
  const handovers = rows
    .filter((row) => row.status === 'sending')
    .map((row): Handover => ({
      accountId: row.accountId,
      id: row.id,
      type: row.type,
      theirNumber: row.theirNumber,
      ourNumber: row.ourNumber,
      body: row.body ?? '',
      encoding: row.encoding,
      segments: row.segments,
      pending: row.pending,
      try: row.attempts,
      expiresAt: row.expiresAt,
      linkId: row.linkId,
    }))
  return { handovers, claimed: rows.length, lastId }
}

/** Moves what is due (scheduled messages, retries) to the queue. Returns how many; call again while it is `limit`. */
export async function queueDue(db: Db, limit = 1000): Promise<number> {
  const { rowCount } = await db.query({ name: 'queue-due', text: dueSql, values: [limit] })
  return rowCount ?? 0
}

/** Ends messages whose validity passed while they waited. Returns how many; call again while it is `limit`. */
export async function expireMessages(context: QueueContext, limit = 500): Promise<number> {
  return endMessages(context, expireSql, [limit])
}

/** Marks as unconfirmed what was sent and got no final receipt in time. Returns how many; call again while it is `limit`. */
export async function endWithoutReceipt(context: QueueContext, hours: number, limit = 500): Promise<number> {
  return endMessages(context, noReceiptSql, [hours, limit])
}

async function endMessages(context: QueueContext, text: string, values: unknown[]): Promise<number> {
  const { postings, count } = await inTransaction(context.db, async (tx: Tx) => {
    const { rows } = await tx.query<MessageRow & { from: Status }>(text, values)
    const moved: Moved[] = rows.map(({ from, ...row }) => ({ row, from }))
    return { postings: await recordMoves(tx, moved, context), count: rows.length }
  })
  context.outbox.offer(postings)
  return count
}

// FOR SHARE on this node's row gates the selection: a fenced node claims nothing. Queue rows are locked by (lane_id, message_id) above
// the low-water mark $3, skipping those of other claims; messages by primary key. Only segments without an accepted or unknown try are
// intended again; an intent that an answer could not end is taken over, so that it does not block its lane.
const claimSql = `
  with me as materialized (
    select id from nodes where id = $1::uuid and fenced_at is null for share
  ), taken as materialized (
    select q.lane_id, q.message_id, q.account_id
    from queue q, me
    where q.lane_id = $2::uuid
      and q.message_id > $3::uuid
    order by q.message_id
    limit $4
    for update of q skip locked
  ), gone as (
    delete from queue q
    using taken t
    where q.lane_id = t.lane_id and q.message_id = t.message_id
  ), judged as materialized (
    select t.account_id, t.message_id,
      case
        when m.expires_at <= now() then 'expired'
        when o.number is not null and not m.is_confirmation then 'rejected'
        when l.link_id is null then 'queued'
        else 'sending'
      end as to_status,
      t.lane_id, l.link_id, l.carrier_id
    from taken t
    join messages m on m.account_id = t.account_id and m.id = t.message_id
    left join opt_outs o on o.account_id = m.account_id and o.number = m.their_number
    left join lateral (
      select carrier_id from senders where account_id = m.account_id and number = m.our_number limit 1
    ) s on true
    left join lateral (
      select id from carriers
      where enabled and (s.carrier_id is null or id = s.carrier_id)
      order by priority, id
      limit 1
    ) route on true
    left join unnest($5::uuid[], $6::uuid[]) as l (link_id, carrier_id) on l.carrier_id = route.id
  ), moved as (
    update messages m
    set status = j.to_status,
      sequence = m.sequence + case when j.to_status in ('sending', 'queued') then 0 else 1 end,
      updated_at = now(),
      completed_at = case when j.to_status in ('expired', 'rejected') then now() end,
      attempts = m.attempts + case when j.to_status = 'sending' then 1 else 0 end,
      link_id = j.link_id,
      carrier_id = j.carrier_id,
      hold_reason = case when j.to_status = 'queued' then 'no_route' end,
      hold_until = null,
      error_code = case j.to_status when 'expired' then 'expired_in_queue' when 'rejected' then 'recipient_opted_out' end,
      error_stage = case when j.to_status in ('expired', 'rejected') then 'queue' end,
      error_raw = null
    from judged j
    where m.account_id = j.account_id
      and m.id = j.message_id
      and m.status = 'queued'
    returning ${messageColumns('m')}, m.link_id as "linkId", j.lane_id as "laneId"
  ), open_segments as materialized (
    select m."accountId" as account_id, m.id as message_id, m.attempts as try, m."linkId" as link_id, segment
    from moved m, generate_series(1, m.segments) as segment
    where m.status = 'sending'
      and (m.attempts = 1 or not exists (
        select 1 from submissions s
        where s.account_id = m."accountId" and s.message_id = m.id and s.segment = segment.segment
          and s.state in ('accepted', 'unknown')))
  ), intended as (
    insert into intents (node_id, account_id, message_id, segment, try, link_id)
    select me.id, s.account_id, s.message_id, s.segment, s.try, s.link_id from open_segments s, me
    on conflict (node_id, account_id, message_id, segment) do update set try = excluded.try, link_id = excluded.link_id, at = now()
  ), held as (
    insert into delayed (account_id, message_id, lane_id, segments, due_at, expires_at)
    select "accountId", id, "laneId", segments, now() + interval '5 seconds', "expiresAt" from moved where status = 'queued'
    on conflict do nothing
  ), outcome as (
    insert into outcomes (account_id, status, message_id, error_code)
    select "accountId", status, id, "errorCode" from moved where status in ('expired', 'rejected')
    on conflict do nothing
  )
  select m.*, t.message_id as "queueId",
    case when m.attempts > 1 then array(
      select s.segment from open_segments s where s.message_id = m.id order by s.segment) end as pending
  from taken t
  left join moved m on m.id = t.message_id
  order by t.message_id`

// Locks the due rows in the order of their time (index delayed_due_at), skipping those of other nodes.
const dueSql = `
  with due as (
    delete from delayed d
    using (
      select account_id, message_id from delayed
      where due_at <= now()
      order by due_at
      limit $1
      for update skip locked
    ) x
    where d.account_id = x.account_id and d.message_id = x.message_id
    returning d.account_id, d.message_id, d.lane_id, d.segments, d.expires_at
  ), moved as (
    update messages m
    set status = 'queued', queued_at = now(), updated_at = now(), hold_reason = null, hold_until = null
    from due d
    where m.account_id = d.account_id and m.id = d.message_id and m.status = 'scheduled'
  )
  insert into queue (lane_id, message_id, account_id, segments, expires_at)
  select lane_id, message_id, account_id, segments, expires_at from due
  on conflict do nothing`

// Locks expired queue rows (index queue_expires_at) that no claim holds, and their messages.
const expireSql = `
  with gone as (
    delete from queue q
    using (
      select lane_id, message_id from queue
      where expires_at <= now()
      order by expires_at
      limit $1
      for update skip locked
    ) x
    where q.lane_id = x.lane_id and q.message_id = x.message_id
    returning q.account_id, q.message_id
  ), moved as (
    update messages m
    set status = 'expired', sequence = m.sequence + 1, updated_at = now(), completed_at = now(),
      error_code = 'expired_in_queue', error_stage = 'queue', error_raw = null
    from gone g
    where m.account_id = g.account_id and m.id = g.message_id and m.status = 'queued'
    returning ${messageColumns('m')}
  ), outcome as (
    insert into outcomes (account_id, status, message_id, error_code)
    select "accountId", status, id, "errorCode" from moved
    on conflict do nothing
  )
  select moved.*, 'queued' as "from" from moved`

// Carrier ids older than the receipt timeout whose message still waits; read through the BRIN index on their time, one week back at
// most, so that what was ended before is not looked at for ever.
const noReceiptSql = `
  with late as materialized (
    select distinct c.account_id, c.message_id
    from carrier_ids c
    join messages m on m.account_id = c.account_id and m.id = c.message_id and m.status = 'sent'
    where c.at < now() - make_interval(hours => $1)
      and c.at > now() - make_interval(hours => $1) - interval '7 days'
    limit $2
  ), moved as (
    update messages m
    set status = 'unconfirmed', sequence = m.sequence + 1, updated_at = now(),
      error_code = 'no_receipt', error_stage = 'receipt', error_raw = null
    from late l
    where m.account_id = l.account_id and m.id = l.message_id and m.status = 'sent'
    returning ${messageColumns('m')}
  ), outcome as (
    insert into outcomes (account_id, status, message_id, error_code)
    select "accountId", status, id, "errorCode" from moved
    on conflict do nothing
  )
  select moved.*, 'sent' as "from" from moved`
