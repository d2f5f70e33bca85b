/**
 * Receipts: on disk before the carrier gets its answer, matched by the carrier's id now or when that id comes, and applied once. The first final
 * receipt of a segment counts; a later, different one is kept without effect. The deciding receipt of a one-segment message is in the message's row;
 * all others are in the inbox.
 */
import { columns } from '../ground/db/array.ts'
import { dayOf, perDay } from '../ground/db/partitions.ts'
import type { Tx } from '../ground/db/db.ts'
import type { Moved } from '../message/moved.ts'
import { messageColumnNames, messageColumns, type MessageRow } from '../message/message.ts'
import {
  applyParts,
  applyReceipts,
  endingOf,
  matchedColumns,
  segmentsOf,
  setsOfEnding,
  statusOfReceipt,
  type MatchedReceipt,
} from './apply.ts'
import { hintAdoption } from './without-id.ts'
import { staysTwice } from '../message/repeat-sql.ts'
import { countMoves } from '../usage/delta-sql.ts'
import type { Reasons } from '../message/taxonomy.ts'

/** A receipt as received. */
export interface ReceiptIn {
  linkId: string
  /** The carrier's id in the receipt's spelling. */
  rawId: string
  /** The id in the submit response's form, by the link's setting. */
  matchId: string
  /** SMPP message_state by name: delivered, undeliverable, … */
  state: string
  /** The carrier's word, such as DELIVRD. */
  stat: string
  err: string | null
  networkError: string | null
  /** As the carrier wrote it, in its unknown zone: only to recognize repetitions. */
  doneDate: string
  /** Details of the submit, for receipts with an unknown id (`adoption.ts`): the recipient, the sender, … */
  source?: string | null
  destination?: string | null
  /** … the time as the carrier wrote it, and our reference, if echoed (SMPP 3.4 §5.3.2.17). */
  submitDate?: string | null
  reference?: number | null
  /** The parts of a long message that it covers, if the message has no more; 0: all. Absent: only the named one. */
  parts?: number | null
  /** The state of the receipt that counts, if this one contradicts it. */
  contradicts?: string | null
}

/** Writes receipts in the caller's transaction, each to its message or to the inbox; returns the messages that moved. */
export async function writeReceipts(tx: Tx, receipts: ReceiptIn[], reasons: Reasons): Promise<Moved[]> {
  const found = await findSegments(tx, receipts)
  const endings = receipts.map((r) => (statusOfReceipt(r.state) === null ? null : endingOf(r, reasons)))
  const { rows } = await tx.query<MessageRow & { partAccountId: string | null } & Prefixed<MatchedReceipt>>({
    ...writeStatement(dayOf(found.flatMap((segment) => segment?.messageId ?? []))),
    values: columns([
      receipts.map((r) => r.linkId),
      receipts.map((r) => r.rawId),
      receipts.map((r) => r.matchId),
      receipts.map((r) => r.state),
      receipts.map((r) => r.stat),
      receipts.map((r) => r.err),
      receipts.map((r) => r.networkError),
      receipts.map((r) => r.doneDate),
      endings.map((ending) => ending?.status ?? null),
      endings.map((ending) => ending?.errorCode ?? null),
      endings.map((ending) => ending?.errorRaw ?? null),
      found.map((segment) => segment?.accountId ?? null),
      found.map((segment) => segment?.messageId ?? null),
      found.map((segment) => segment?.segment ?? null),
      found.map((segment, i) => (segment ? segmentsOf(receipts[i]?.parts, segment.segments) : null)),
      receipts.map((r) => r.source ?? null),
      receipts.map((r) => r.destination ?? null),
      receipts.map((r) => r.submitDate ?? null),
      receipts.map((r) => r.reference ?? null),
      receipts.map((r) => r.parts ?? null),
      receipts.map((r) => r.contradicts ?? null),
    ]),
  })
  await hintAdoption(
    tx,
    receipts.filter((r, i) => !found[i] && r.source),
  )
  const moved: Moved[] = []
  const parts: MatchedReceipt[] = []
  for (const {
    partLinkId,
    partAccountId,
    partMessageId,
    partSegment,
    partSegments,
    partState,
    partStat,
    partErr,
    ...row
  } of rows) {
    if (partAccountId === null) moved.push({ row, from: row.previousStatus ?? 'sent' })
    else
      parts.push({
        linkId: partLinkId,
        accountId: partAccountId,
        messageId: partMessageId,
        segment: partSegment,
        segments: partSegments,
        state: partState,
        stat: partStat,
        err: partErr,
      })
  }
  if (parts.length > 0) moved.push(...(await applyParts(tx, parts, reasons)))
  return moved
}

type Segment = Pick<MatchedReceipt, 'accountId' | 'messageId' | 'segment' | 'segments'>

/** The segments of these receipts, in order; undefined if the id is not known (yet). By the primary key of carrier_ids. */
async function findSegments(tx: Tx, receipts: ReceiptIn[]): Promise<(Segment | undefined)[]> {
  const { rows } = await tx.query<Segment & { n: number }>({
    name: 'find-segments',
    text: `
      select r.n::int, c.account_id as "accountId", c.message_id as "messageId", c.segment, c.segments
      from unnest($1::uuid[], $2::text[]) with ordinality as r (link_id, match_id, n)
      join carrier_ids c on c.link_id = r.link_id and c.carrier_message_id = r.match_id`,
    values: columns([receipts.map((r) => r.linkId), receipts.map((r) => r.matchId)]),
  })
  const found: (Segment | undefined)[] = receipts.map(() => undefined)
  for (const { n, ...segment } of rows) found[n - 1] = segment
  return found
}

type Prefixed<T> = { [Name in keyof T & string as `part${Capitalize<Name>}`]: T[Name] }

// Locks the decided messages by primary key and inserts the rest into the inbox, where a repetition changes nothing. Returns two kinds of rows: moved
// messages, and new receipts of segments in order of arrival.
const writeStatement = perDay(
  'write-receipts',
  (day) => `
  with matched as materialized (
    select distinct on (link_id, raw_id, state, done_date) *
    from unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[],
      $11::text[], $12::uuid[], $13::uuid[], $14::int[], $15::int[], $16::text[], $17::text[], $18::text[], $19::int[],
      $20::int[], $21::text[])
      with ordinality
      as r (link_id, raw_id, match_id, state, stat, err, network_error, done_date, to_status, error_code, error_raw,
        account_id, message_id, segment, segments, source, destination, submit_date, reference, parts, contradicts, n)
    order by link_id, raw_id, state, done_date, n
  ), deciding as materialized (
    select distinct on (account_id, message_id) *
    from matched
    where segments = 1 and to_status is not null
    order by account_id, message_id, n
  ), moved as (
    update messages${day} m
    set ${setsOfEnding('d')},
      possible_duplicate = ${staysTwice('m', day)}
    from deciding d
    where m.account_id = d.account_id
      and m.id = d.message_id
      and (m.status in ('sending', 'sent', 'unconfirmed') or (m.status = 'queued' and m.possible_duplicate))
    returning ${messageColumns('m')}, d.n
  ), outcome as (
    insert into outcomes${day} (account_id, status, message_id, error_code)
    select "accountId", status, id, "errorCode" from moved where status <> 'delivered'
    on conflict do nothing
  ), ${countMoves('moved')}, kept as (
    insert into receipts (link_id, raw_id, state, done_date, match_id, stat, err, network_error, account_id, message_id, segment,
      source, destination, submit_date, reference, parts, contradicts)
    select link_id, raw_id, state, done_date, match_id, stat, err, network_error, account_id, message_id, segment,
      case when message_id is null then source end, case when message_id is null then destination end, submit_date, reference,
      parts, contradicts
    from matched
    where n not in (select n from moved)
    on conflict do nothing
    returning link_id, raw_id, state, done_date
  ), parts as (
    select p.*
    from matched p
    join kept k on k.link_id = p.link_id and k.raw_id = p.raw_id and k.state = p.state and k.done_date = p.done_date
    where p.segments > 1
  )
  select ${messageColumnNames.map((name) => `v."${name}"`).join(', ')},
    p.link_id as "partLinkId", p.account_id as "partAccountId", p.message_id as "partMessageId", p.segment as "partSegment", p.segments as "partSegments",
    p.state as "partState", p.stat as "partStat", p.err as "partErr"
  from (values (1), (2)) as kind (n)
  left join moved v on kind.n = 1
  left join parts p on kind.n = 2
  where v.id is not null or p.message_id is not null
  order by p.n`,
)

/**
 * Matches receipts whose id another process stored at the same moment, unseen by either writer. Called now and then; returns the messages that moved.
 * Looks an hour back: an id unknown for longer is another form, or another client's. By receipts_unmatched and the primary key of carrier_ids.
 */
export async function matchOrphans(tx: Tx, reasons: Reasons, limit = 500): Promise<Moved[]> {
  const { rows } = await tx.query<MatchedReceipt>({
    name: 'match-orphans',
    text: `
     with found as (
       select r.link_id, r.raw_id, r.state, r.done_date, c.account_id, c.message_id, c.segment, c.segments
       from receipts r
       join carrier_ids c on c.link_id = r.link_id and c.carrier_message_id = r.match_id
       where r.message_id is null
         and r.received_at > now() - interval '1 hour'
       limit $1
       for update of r skip locked
     ), matched as (
       update receipts r
       set account_id = f.account_id, message_id = f.message_id, segment = f.segment
       from found f
       where r.link_id = f.link_id and r.raw_id = f.raw_id and r.state = f.state and r.done_date = f.done_date
       returning r.received_at, ${matchedColumns('r', 'f')}
     )
     select * from matched order by received_at`,
    values: [limit],
  })
  return rows.length > 0 ? applyReceipts(tx, rows, reasons) : []
}
