import { perDay, type DayStatement } from '../ground/db/partitions.ts'
import { chainOrder, isInChain, ourSenders } from './chain-sql.ts'
import { messageColumns } from '../message/message.ts'
import { isBeingAnswered, isTaken, isTwice, mayBeTaken } from '../message/repeat-sql.ts'
import { countMoves } from '../usage/delta-sql.ts'

/**
 * Whether sending of a campaign is stopped: it is paused or canceled, or archived while a cancel still takes back its messages
 * (broadcasts_campaign). SQL over `campaigns`, whose row may be missing.
 */
export const isStopped = (c: string): string => `(${c}.status in ('paused', 'canceled')
          or (${c}.status = 'archived' and exists (
            select 1 from broadcasts b
            where b.account_id = ${c}.account_id and b.campaign_id = ${c}.id and b.status = 'canceled' and not b.is_settled)))`

/** Whether messages of a campaign wait for its pace, unless it is stopped. SQL over `campaigns`, as `isStopped`. */
export const isPaced = (c: string): string =>
  `(${c}.pace is not null and ${c}.status not in ('archived', 'canceled', 'completed'))`

/**
 * The claim statement, of lanes whose messages are of one day or of any. FOR SHARE on this node's row gates the selection: a fenced node
 * claims nothing. Locks queue rows by (lane_id, message_id) above the low-water mark $3, skipping those of other claims, and messages by
 * primary key. A message whose segments all turn out to be with a carrier becomes sent, because nothing else would report it (`adopt.ts`).
 * Only segments without an accepted or unknown try that is not repeated are intended again; an intent that no response could end is taken
 * over, so that it does not block its lane. The first try of a young message of one segment needs no intent: its own row names the node, as
 * from accept (decision 0013).
 *
 * A message goes to the first enabled carrier of its chain with a link up on any node; else to the first enabled one. Without a chain it
 * takes the default route: the carriers that have its sender, best first.
 *
 * A message that must wait moves to its place: the part of the lane for its carrier, and for the pace of its sender or campaign if they
 * have one. Messages of paused and canceled campaigns move too. If this is the place already, or another claim is creating it, the row
 * stays. Places are created in one order, so that two claims do not deadlock. Answers to keywords ignore the pace and pauses of their
 * campaign: a person who says STOP gets the confirmation. Messages that no carrier would take are retried after a while, repeatedly.
 *
 * Returns a row for each message that moved, and at least one; each repeats the queue's figures.
 *
 * $1 node, $2 the queue's lane, $3 low water, $4 rows at most, $5–$7 links with their carrier and room, $8 the lane of which $2 is a part,
 * $9 the sender for which $2 waits (or ''), $10 whether messages beyond the room move to their place, $11 carriers with a link that is up,
 * $12 the campaign for whose pace $2 waits (or null), $13 the only messages that may be taken (null: all), $14 the first id that is young
 * enough.
 */
export const claimStatement: (day: string) => DayStatement = perDay(
  'claim-messages',
  (day) => `
  with me as materialized (
    select id from nodes where id = $1::uuid and fenced_at is null for share
  ), taken as materialized (
    select q.ctid as row_at, q.message_id, q.account_id, q.segments, q.expires_at
    from queue q, me
    where q.lane_id = $2::uuid
      and q.message_id > $3::uuid
      and ($13::uuid[] is null or q.message_id = any ($13))
    order by q.message_id
    limit $4
    for update of q skip locked
  ), judged as materialized (
    select t.row_at, t.account_id, t.message_id, t.segments, t.expires_at, route.id as carrier_id, l.link_id, l.room,
      route.id = any ($11::uuid[]) and route.enabled as is_up,
      case when s.pace is null then '' else m.our_number end as sender,
      case when ${isPaced('c')} or ${isStopped('c')} then c.id end as campaign_id,
      case
        when m.status <> 'queued' then 'gone'
        when ${isTaken('m', day)} then 'sent'
        when m.expires_at <= now() then case when ${mayBeTaken('m', day)} then 'unconfirmed' else 'expired' end
        when o.number is not null and not m.is_confirmation then case when ${mayBeTaken('m', day)} then 'unconfirmed' else 'canceled' end
        when ${isStopped('c')} then 'queued'
        when l.link_id is null or (s.pace is not null and m.our_number <> $9) then 'queued'
        when ${isPaced('c')} and c.id is distinct from $12::uuid then 'queued'
        when ${isBeingAnswered('m', day)} then 'queued'
        else 'sending'
      end as to_status
    from taken t
    join messages${day} m on m.account_id = t.account_id and m.id = t.message_id
    left join opt_outs o on o.account_id = m.account_id and o.number = m.their_number
    left join campaigns c on c.account_id = m.account_id and c.id = m.campaign_id and not m.is_confirmation
    ${ourSenders}
    left join lateral (
      select id, enabled
      from carriers c
      where ${isInChain}
      order by c.enabled and c.id = any ($11) desc, c.enabled desc, ${chainOrder}
      limit 1
    ) route on true
    left join unnest($5::uuid[], $6::uuid[], $7::int[]) as l (link_id, carrier_id, room)
      on l.carrier_id = route.id and route.enabled
  ), fitted as materialized (
    select j.*, j.to_status = 'sending'
      and sum(j.segments) over (partition by j.link_id, j.to_status order by j.message_id) - j.segments >= j.room as is_over
    from judged j
  ), wanted as materialized (
    select distinct carrier_id, sender, campaign_id from fitted
    where carrier_id is not null and (to_status = 'queued' or (is_over and $10))
  ), made as (
    insert into backlogs (id, lane_id, carrier_id, sender, campaign_id)
    select gen_random_uuid(), $8, carrier_id, sender, campaign_id from wanted w
    where not exists (
      select 1 from backlogs b
      where b.lane_id = $8 and b.carrier_id = w.carrier_id and b.sender = w.sender
        and b.campaign_id is not distinct from w.campaign_id)
    order by carrier_id, sender, campaign_id
    on conflict do nothing
    returning id, carrier_id, sender, campaign_id
  ), places as materialized (
    select id, carrier_id, sender, campaign_id from made
    union all
    select b.id, b.carrier_id, b.sender, b.campaign_id from wanted w
    join backlogs b on b.lane_id = $8 and b.carrier_id = w.carrier_id and b.sender = w.sender
      and b.campaign_id is not distinct from w.campaign_id
  ), placed as materialized (
    select f.row_at, f.account_id, f.message_id, f.segments, f.expires_at, f.carrier_id, f.link_id, f.is_up, p.id as place_id,
      case when f.is_over then 'queued' else f.to_status end as to_status,
      (f.to_status = 'queued' or f.is_over) and f.carrier_id is not null and (p.id is null or p.id = $2) as stays
    from fitted f
    left join places p on p.carrier_id = f.carrier_id and p.sender = f.sender and p.campaign_id is not distinct from f.campaign_id
      and (f.to_status = 'queued' or f.is_over)
  ), gone as (
    delete from queue where ctid = any (array(select row_at from placed where not stays))
  ), sorted as (
    insert into queue (lane_id, message_id, account_id, segments, expires_at)
    select place_id, message_id, account_id, segments, expires_at
    from placed
    where place_id is not null and not stays
    on conflict do nothing
  ), moved as (
    update messages${day} m
    set status = j.to_status,
      previous_status = m.status,
      sequence = m.sequence + case when j.to_status in ('sending', 'queued') then 0 else 1 end,
      updated_at = now(),
      completed_at = case when j.to_status in ('expired', 'canceled') then now() end,
      attempts = m.attempts + case when j.to_status = 'sending' then 1 else 0 end,
      sent_at = case when j.to_status = 'sent' then now() else m.sent_at end,
      possible_duplicate = case when j.to_status in ('sent', 'unconfirmed') then ${isTwice('m', day)} else m.possible_duplicate end,
      link_id = case j.to_status when 'sending' then j.link_id when 'sent' then m.link_id end,
      node_id = case when j.to_status = 'sending' and m.attempts = 0 and m.segments = 1 and m.id >= $14::uuid then $1::uuid end,
      carrier_id = case when j.to_status = 'sending' then j.carrier_id when m.possible_duplicate then m.carrier_id end,
      hold_reason = case when j.to_status = 'queued' then 'no_route' end,
      hold_until = null,
      error_code = case j.to_status
        when 'expired' then case when m.hold_reason = 'quiet_hours' then 'quiet_hours' else 'expired_in_queue' end
        when 'canceled' then 'recipient_opted_out'
        when 'unconfirmed' then 'outcome_unknown' end,
      error_stage = case when j.to_status in ('expired', 'canceled', 'unconfirmed') then 'queue' end,
      error_raw = case when j.to_status = 'expired' and m.hold_reason is distinct from 'quiet_hours' then m.error_raw end
    from placed j
    where m.account_id = j.account_id
      and m.id = j.message_id
      and m.status = 'queued'
      and (j.to_status in ('sending', 'sent', 'expired', 'canceled', 'unconfirmed')
        or (m.hold_reason is null and j.is_up is not true))
    returning ${messageColumns('m')}, m.link_id as "linkId", m.node_id is not null as "isDirect"
  ), open_segments as materialized (
    select m."accountId" as account_id, m.id as message_id, m.attempts as try, m."linkId" as link_id, segment
    from moved m, generate_series(1, m.segments) as segment
    where m.status = 'sending'
      and not m."isDirect"
      and (m.attempts = 1 or not exists (
        select 1 from submissions${day} s
        where s.account_id = m."accountId" and s.message_id = m.id and s.segment = segment.segment
          and (s.state = 'accepted' or (s.state = 'unknown' and not s.is_repeated))))
  ), intended as (
    insert into intents (node_id, account_id, message_id, segment, try, link_id)
    select me.id, s.account_id, s.message_id, s.segment, s.try, s.link_id from open_segments s, me
    on conflict (node_id, account_id, message_id, segment) do update set try = excluded.try, link_id = excluded.link_id, at = now()
  ), held as (
    insert into delayed (account_id, message_id, lane_id, segments, due_at, expires_at)
    select account_id, message_id, $8, segments, now() + interval '5 seconds', expires_at from placed
    where to_status = 'queued' and carrier_id is null
    on conflict do nothing
  ), outcome as (
    insert into outcomes${day} (account_id, status, message_id, error_code)
    select "accountId", status, id, "errorCode" from moved where status in ('expired', 'canceled')
    on conflict do nothing
  ), ${countMoves('moved')}
  select summary.*, m.*,
    case when m.attempts > 1 then array(
      select s.segment from open_segments s where s.message_id = m.id order by s.segment) end as pending
  from (
    select count(*)::int as claimed,
      (count(*) filter (where stays))::int as stayed,
      (select message_id from placed order by message_id desc limit 1) as "lastId",
      (select message_id from placed
       where message_id < coalesce((select message_id from placed where stays order by message_id limit 1), 'ffffffff-ffff-ffff-ffff-ffffffffffff')
       order by message_id desc limit 1) as "clearId"
    from placed
  ) summary
  left join moved m on true
  order by m.id`,
)
