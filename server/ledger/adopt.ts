/**
 * Adoption: a receipt with an unknown id may be the first word of a try that was never answered. Tries are recorded when they end without an id
 * (`without-id.ts`), receipts keep the details of their submit, and a sweep matches them in either order (`adoption.ts` decides).
 */
import { receiptIdForms } from '@heliogram/smpp'
import { columns, fieldsOf } from '../ground/db/array.ts'
import { nowMs } from '../ground/db/clock.ts'
import type { Tx } from '../ground/db/db.ts'
import { placeOf } from '../ground/db/span.ts'
import { firstIdAt } from '../ground/base/ids.ts'
import { decideAdoptions, type Adoption, type TryWithoutId, type UnmatchedReceipt } from './adoption.ts'
import { applyReceipts, matchedColumns, type MatchedReceipt } from './apply.ts'
import { knownIds } from './carrier-ids-sql.ts'
import { partsOfLane } from '../queue/lanes.ts'
import type { Moved } from '../message/moved.ts'
import { messageColumns, type MessageRow, type Status } from '../message/message.ts'
import { isTwice } from '../message/repeat-sql.ts'
import { countMoves } from '../usage/delta-sql.ts'
import type { Reasons } from '../message/taxonomy.ts'

// The longest validity: messages in flight were accepted since, except scheduled ones.
const validityMaxMs = 3 * 86_400_000
// Tries are checked again after half their age: soon while receipts are likely, rarely later, because a receipt triggers a check itself.
const checkSecondsMax = 3600

/**
 * Matches due tries with receipts; returns the messages that moved and the number of tries checked. One process at a time (`resolveUnknown`), so no
 * try or receipt is taken twice.
 */
export async function adoptTries(
  tx: Tx,
  reasons: Reasons,
  limit: number,
): Promise<{ moved: Moved[]; looked: number; adopted: number }> {
  const tries = await readDue(tx, limit)
  if (tries.length === 0) return { moved: [], looked: 0, adopted: 0 }
  const open = tries.filter((one) => one.isOpen)
  const unmatched = open.length === 0 ? [] : await readUnmatched(tx, open)
  // In this order: a message whose receipt was read is busy after it, or its id is known by then.
  if (unmatched.length > 0) await noteBusy(tx, open)
  const decided = decideAdoptions(open, unmatched)
  const adoptions = await withoutKnown(tx, decided)
  const receipts = adoptions.length === 0 ? [] : await takeReceipts(tx, adoptions)
  // Of several segments' late answers, the last does not know that it is the last.
  const moved = await moveWhole(tx, [...receipts, ...tries.filter((one) => !one.isOpen)])
  if (receipts.length > 0) moved.push(...(await applyReceipts(tx, receipts, reasons)))
  await leave(tx, tries, adoptions)
  return { moved, looked: tries.length, adopted: adoptions.length }
}

interface DueTry extends TryWithoutId {
  segments: number
  /** Without an id so far. */
  isOpen: boolean
}

/** The tries of every pair of numbers with a due one: they compete for the same receipts. Locks them by primary key, before any message. */
async function readDue(tx: Tx, limit: number): Promise<DueTry[]> {
  const { rows } = await tx.query<DueTry>({
    name: 'read-due-tries',
    text: `
      with pairs as materialized (
        select distinct link_id, their_number
        from (select link_id, their_number from nameless_tries where check_at <= now() order by check_at limit $1) due
      )
      select t.account_id as "accountId", t.message_id as "messageId", t.segment, t.try, t.link_id as "linkId", t.segments,
        t.their_number as "theirNumber", t.our_number as "ourNumber", t.reference, t.intent_at as "intentAt",
        coalesce(s.state in ('unknown', 'accepted') and s.carrier_message_id is null, false) as "isOpen",
        false as "isBusy"
      from pairs p
      join nameless_tries t on t.link_id = p.link_id and t.their_number = p.their_number
      left join submissions s
        on s.account_id = t.account_id and s.message_id = t.message_id and s.segment = t.segment and s.try = t.try
      order by t.account_id, t.message_id, t.segment, t.try
      for update of t`,
    values: [limit],
  })
  return rows
}

/** Marks tries between two numbers that have a message in flight; by messages_their_number. */
async function noteBusy(tx: Tx, tries: readonly DueTry[]): Promise<void> {
  const { rows } = await tx.query<{ n: number }>({
    name: 'read-busy-tries',
    text: `
      select t.n::int
      from unnest($1::uuid[], $2::text[], $3::text[]) with ordinality as t (account_id, their_number, our_number, n)
      where exists (
        select 1
        from messages m
        where m.account_id = t.account_id
          and m.their_number = t.their_number
          and m.id >= $4
          and m.status = 'sending'
          and m.our_number is not distinct from t.our_number)`,
    values: [...columns(fieldsOf(tries, 'accountId', 'theirNumber', 'ourNumber')), firstIdAt(nowMs() - validityMaxMs)],
  })
  const busy = new Set(rows.map(({ n }) => tries[n - 1]))
  for (const one of tries) one.isBusy = busy.has(one)
}

/** Unmatched receipts about these tries' numbers, one for each id; by receipts_adoptable. */
async function readUnmatched(tx: Tx, tries: readonly TryWithoutId[]): Promise<UnmatchedReceipt[]> {
  const { rows } = await tx.query<UnmatchedReceipt>({
    name: 'read-unmatched',
    text: `
      select distinct on (r.link_id, r.match_id)
        r.link_id as "linkId", r.match_id as "matchId", r.raw_id as "rawId", r.source, r.destination, r.submit_date as "submitDate",
        r.reference, r.received_at as "receivedAt"
      from (select distinct * from unnest($1::uuid[], $2::text[]) as p (link_id, source)) p
      join receipts r on r.link_id = p.link_id and r.source = p.source and r.message_id is null
      order by r.link_id, r.match_id, r.received_at`,
    values: columns(fieldsOf(tries, 'linkId', 'theirNumber')),
  })
  return rows
}

/** Drops receipts whose id, in another form, belongs to a known message to the same number: a setting is wrong, and no answer was lost. */
async function withoutKnown(tx: Tx, adoptions: Adoption[]): Promise<Adoption[]> {
  if (adoptions.length === 0) return adoptions
  const forms = adoptions.flatMap(({ receipt }, n) =>
    receiptIdForms(receipt.rawId).map(({ id }) => ({ id, n, receipt })),
  )
  const { rows } = await tx.query<{ n: number }>({
    name: 'find-known-forms',
    text: `
      select f.n
      from unnest($1::uuid[], $2::text[], $3::text[], $4::int[]) as f (link_id, id, source, n)
      join carrier_ids c on c.link_id = f.link_id and c.carrier_message_id = f.id
      join messages m on m.account_id = c.account_id and m.id = c.message_id and m.their_number = f.source`,
    values: columns([
      forms.map(({ receipt }) => receipt.linkId),
      forms.map(({ id }) => id),
      forms.map(({ receipt }) => receipt.source),
      forms.map(({ n }) => n),
    ]),
  })
  const known = new Set(rows.map(({ n }) => n))
  return adoptions.filter((_, n) => !known.has(n))
}

/** Gives the tries their ids; returns the receipts, which are now in the inbox with their messages. */
async function takeReceipts(tx: Tx, adoptions: Adoption[]): Promise<MatchedReceipt[]> {
  const { rows } = await tx.query<MatchedReceipt>({
    name: 'adopt-tries',
    text: adoptSql,
    values: columns([
      adoptions.map(({ try: one }) => one.accountId),
      adoptions.map(({ try: one }) => one.messageId),
      adoptions.map(({ try: one }) => one.segment),
      adoptions.map(({ try: one }) => one.try),
      adoptions.map(({ receipt }) => receipt.matchId),
    ]),
  })
  return rows
}

/** Moves messages to `sent` if all their segments are now accepted. */
async function moveWhole(tx: Tx, messages: readonly { accountId: string; messageId: string }[]): Promise<Moved[]> {
  if (messages.length === 0) return []
  const { rows } = await tx.query<MessageRow & { from: Status }>({
    name: 'send-whole',
    text: wholeSql,
    values: columns(fieldsOf(messages, 'accountId', 'messageId')),
  })
  return rows.map(({ from, ...row }) => ({ row, from }))
}

/**
 * Deletes tries with a known outcome, and schedules the next check of the others. A try due for resending stays while its message is unconfirmed:
 * another segment may never have been written, and only this row gets it sent. By primary key.
 */
async function leave(tx: Tx, tries: readonly DueTry[], adoptions: readonly Adoption[]): Promise<void> {
  const left = tries.filter((one) => !adoptions.some((adoption) => adoption.try === one))
  if (left.length === 0) return
  const { day, isThere } = placeOf(left.map(({ messageId }) => messageId))
  await tx.query({
    text: `
      with t as materialized (
        select n.row_at, t.is_open or (n.is_due and coalesce(m.status in ('sending', 'unconfirmed'), false)) as stays
        from unnest($1::uuid[], $2::uuid[], $3::int[], $4::int[], $5::boolean[])
          as t (account_id, message_id, segment, try, is_open)
        cross join lateral (
          select ctid as row_at, resend_at is not null as is_due
          from nameless_tries
          where account_id = t.account_id and message_id = t.message_id and segment = t.segment and try = t.try
          offset 0
        ) n
        left join messages${day} m on m.account_id = t.account_id and m.id = t.message_id ${isThere('m.id')}
      ), forgotten as (
        delete from nameless_tries where ctid = any (array(select row_at from t where not stays))
      )
      update nameless_tries
      set check_at = now() + least(greatest((now() - noted_at) / 2, interval '1 second'), make_interval(secs => $6))
      where ctid = any (array(select row_at from t where stays))`,
    values: [...columns(fieldsOf(left, 'accountId', 'messageId', 'segment', 'try', 'isOpen')), checkSecondsMax],
  })
}

// Submissions by primary key prefix; a concurrent late answer wins. Receipts by receipts_unmatched: all of the id, in any state; their numbers are no
// longer needed. If one receipt covers the message (segments = 1), it was accepted whole; else `leave` checks, in the next turn, whether segments
// remain to be resent.
const adoptSql = `
  with a as materialized (
    select t.ctid as row_at, t.account_id, t.message_id, t.segment, t.try, t.link_id, t.segments, t.resend_at, a.carrier_message_id
    from unnest($1::uuid[], $2::uuid[], $3::int[], $4::int[], $5::text[]) as a (account_id, message_id, segment, try, carrier_message_id)
    join nameless_tries t
      on t.account_id = a.account_id and t.message_id = a.message_id and t.segment = a.segment and t.try = a.try
  ), taken as (
    update submissions s
    set state = 'accepted', is_adopted = true, answered_at = now(),
      carrier_message_id = case when s.segment = a.segment then a.carrier_message_id end
    from a
    where s.account_id = a.account_id and s.message_id = a.message_id and s.try = a.try
      and (s.segment = a.segment or a.segments = 1)
      and s.state in ('unknown', 'accepted')
      and s.carrier_message_id is null
    returning s.account_id, s.message_id, s.segment, s.try
  ), named as materialized (
    select a.*
    from a
    join taken t on t.account_id = a.account_id and t.message_id = a.message_id and t.segment = a.segment and t.try = a.try
  ), ${knownIds('select link_id, carrier_message_id, null::text, account_id, message_id, segment, segments from named')}, forgotten as (
    delete from nameless_tries where ctid = any (array(select row_at from named where segments = 1 or resend_at is null))
  ), matched as (
    update receipts r
    set account_id = a.account_id, message_id = a.message_id, segment = a.segment, source = null, destination = null
    from named a
    where r.link_id = a.link_id and r.match_id = a.carrier_message_id and r.message_id is null
    returning r.received_at, ${matchedColumns('r', 'a')}
  )
  select * from matched order by received_at`

// Locks the messages by primary key. A message whose segments are all accepted was sent, even if it was queued again; it then leaves the queue like a
// canceled one (see cancel.ts for the locks). The others, also one that is being claimed now, only get an id.
const wholeSql = `
  with a as materialized (
    select k.account_id, k.message_id, m.status as "from",
      (select s.carrier_message_id from submissions s
       where s.account_id = m.account_id and s.message_id = m.id and s.is_adopted and s.carrier_message_id is not null
       order by s.try, s.segment
       limit 1) as carrier_message_id,
      (select count(distinct s.segment) from submissions s
       where s.account_id = m.account_id and s.message_id = m.id and s.state = 'accepted') >= m.segments as is_whole,
      ${isTwice('m')} as is_twice
    from (select distinct * from unnest($1::uuid[], $2::uuid[]) as k (account_id, message_id)) k
    join messages m on m.account_id = k.account_id and m.id = k.message_id
  ), moved as (
    update messages m
    set status = 'sent',
      previous_status = m.status,
      sequence = m.sequence + 1,
      updated_at = now(),
      sent_at = now(),
      provider_message_id = coalesce(m.provider_message_id, a.carrier_message_id),
      possible_duplicate = a.is_twice,
      hold_reason = null,
      hold_until = null,
      error_code = null,
      error_stage = null,
      error_raw = null
    from a
    where a.is_whole
      and m.account_id = a.account_id
      and m.id = a.message_id
      and ((m.status = 'unconfirmed' and m.error_code = 'outcome_unknown') or (m.status = 'queued' and m.possible_duplicate))
    returning ${messageColumns('m')}, a."from"
  ), named as (
    update messages m
    set provider_message_id = a.carrier_message_id
    from a
    where m.account_id = a.account_id
      and m.id = a.message_id
      and m.provider_message_id is null
      and m.id not in (select id from moved)
  ), unqueued as (
    delete from queue
    where ctid = any (array(
      select q.ctid
      from moved
      join lanes l on l.account_id = moved."accountId" and l.type = moved.type
      ${partsOfLane('moved."ourNumber"', 'moved."campaignId"')}
      cross join lateral (
        select ctid from queue where lane_id = part.lane_id and message_id = moved.id for update skip locked) q
      where moved."from" = 'queued'))
  ), undelayed as (
    delete from delayed
    where ctid = any (array(
      select d.ctid
      from moved
      cross join lateral (
        select ctid from delayed where account_id = moved."accountId" and message_id = moved.id for update skip locked) d
      where moved."from" = 'queued'))
  ), ${countMoves('moved')}
  select * from moved`
