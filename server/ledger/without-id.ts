/** Tries that no receipt matches by the carrier's id: recorded when they end without one, for adoption (`adopt.ts`) and `resend.ts`. */
import { columns, fieldsOf } from '../ground/db/array.ts'
import type { Tx } from '../ground/db/db.ts'
import { placeOf } from '../ground/db/span.ts'
import { referenceOf } from './adoption.ts'
import type { Answer } from './answer.ts'

/** Seconds before an unknown try is resent; four times as long after each further unknown one. */
export const resendAfterSeconds = 3

type WithoutId = Pick<Answer, 'accountId' | 'messageId' | 'segment' | 'try' | 'linkId' | 'state' | 'intentAt'>

/** Whether no receipt can find this try by an id. */
export function lacksId({ state, carrierMessageId }: Answer): boolean {
  return state === 'unknown' || (state === 'accepted' && carrierMessageId === null)
}

/**
 * Records tries that ended without an id, in the transaction of their answers, and decides on the unknown ones: `resend` after a while if the
 * message, its campaign, its account or else the link says so. Locks the undecided messages, by primary key. If one receipt covers all segments, only
 * the first is recorded.
 */
export async function noteWithoutId(tx: Tx, answers: readonly WithoutId[]): Promise<void> {
  if (answers.length === 0) return
  const { day, isThere } = placeOf(answers.map(({ messageId }) => messageId))
  await tx.query({
    text: `
      with a as materialized (
        select a.*, m.their_number, m.our_number,
          coalesce(m.on_unknown, own.settings ->> 'on_unknown', c.settings ->> 'on_unknown', 'hold') as on_unknown,
          (select id from links f where f.carrier_id = l.carrier_id order by position limit 1) as receipts_id,
          case when c.kind = 'http' or c.settings ->> 'concatenation' = 'payload' then 1 else m.segments end as spoken_segments,
          (select count(*) from submissions${day} s
           where s.account_id = a.account_id and s.message_id = a.message_id ${isThere('s.message_id')}
             and s.segment = a.segment and s.state = 'unknown') as times
        from unnest($1::uuid[], $2::uuid[], $3::int[], $4::int[], $5::uuid[], $6::int[], $7::timestamptz[], $8::boolean[])
          as a (account_id, message_id, segment, try, link_id, reference, intent_at, is_unknown)
        cross join lateral (
          select their_number, our_number, on_unknown, link_id, segments
          from messages${day}
          where account_id = a.account_id and id = a.message_id ${isThere('id')}
          offset 0
        ) m
        join links l on l.id = a.link_id
        join carriers c on c.id = l.carrier_id
        left join links own on own.id = m.link_id
      ), decided as (
        update messages${day} m
        set on_unknown = a.on_unknown
        from (select distinct account_id, message_id, on_unknown from a where is_unknown) a
        where m.account_id = a.account_id and m.id = a.message_id ${isThere('m.id')} and m.on_unknown is null
      )
      insert into nameless_tries (account_id, message_id, segment, try, link_id, segments, their_number, our_number, reference,
        intent_at, resend_at)
      select account_id, message_id, segment, try, receipts_id, spoken_segments, their_number, our_number, reference, intent_at,
        case when is_unknown and on_unknown = 'resend'
          then now() + make_interval(secs => least($9 * power(4, times - 1), 86400)) end
      from a
      where spoken_segments > 1 or segment = 1
      on conflict do nothing`,
    values: [
      ...columns([
        ...fieldsOf(answers, 'accountId', 'messageId', 'segment', 'try', 'linkId'),
        answers.map((a) => referenceOf(a.messageId, a.segment, a.try)),
        answers.map((a) => a.intentAt),
        answers.map((a) => a.state === 'unknown'),
      ]),
      resendAfterSeconds,
    ],
  })
}

/**
 * If an answer gives an id that a receipt attributed to an earlier try of the segment, the attribution was wrong: one submit has one id. Takes it
 * back, in the transaction of the answers and after these; returns the tries, which have no id again. By primary key prefix of submissions; first
 * tries have none before them.
 */
export async function takeBackIds(tx: Tx, answers: readonly Answer[]): Promise<WithoutId[]> {
  const named = answers.filter(({ state, carrierMessageId, ...answer }) => {
    const mayBeAnother = answer.try > 1 || answer.isLate === true
    return state === 'accepted' && carrierMessageId !== null && mayBeAnother
  })
  if (named.length === 0) return []
  // If one receipt covers all segments, the others were accepted along without an id.
  const { rows } = await tx.query<WithoutId>({
    name: 'takeBackIds-tries',
    text: `
      with wrong as materialized (
        select s.account_id, s.message_id, s.segment, s.try
        from unnest($1::uuid[], $2::uuid[], $3::int[], $4::int[], $5::text[]) as a (account_id, message_id, segment, try, id)
        join submissions s on s.account_id = a.account_id and s.message_id = a.message_id and s.segment = a.segment
        where s.try <> a.try and s.is_adopted and s.carrier_message_id = a.id
      )
      update submissions s
      set state = 'unknown', is_adopted = false, carrier_message_id = null
      from wrong w
      where s.account_id = w.account_id and s.message_id = w.message_id and s.try = w.try
        and s.is_adopted
        and (s.segment = w.segment or s.carrier_message_id is null)
      returning s.account_id as "accountId", s.message_id as "messageId", s.segment, s.try, s.link_id as "linkId",
        s.state, s.intent_at as "intentAt"`,
    values: columns(fieldsOf(named, 'accountId', 'messageId', 'segment', 'try', 'carrierMessageId')),
  })
  return rows
}

/** After receipts with unknown ids: schedules checks of the tries between their numbers. By nameless_tries_number, which is mostly empty. */
export async function hintAdoption(tx: Tx, receipts: { linkId: string; source?: string | null }[]): Promise<void> {
  if (receipts.length === 0) return
  const { rows } = await tx.query<Place>({
    name: 'hint-adoption',
    text: `
      select t.ctid::text as at
      from unnest($1::uuid[], $2::text[]) as r (link_id, source)
      cross join lateral (
        select ctid from nameless_tries where link_id = r.link_id and their_number = r.source for update skip locked) t`,
    values: columns([receipts.map((r) => r.linkId), receipts.map((r) => r.source ?? null)]),
  })
  await lookSoon(tx, rows)
}

/** Locks the tries of messages, by primary key. Lock order: tries, as adoption does, then queued rows, as a claim does, then messages. */
export async function lockTries(tx: Tx, messages: readonly Pick<Answer, 'accountId' | 'messageId'>[]): Promise<void> {
  await tx.query({
    name: 'lock-tries-without-id',
    text: `
      select
      from unnest($1::uuid[], $2::uuid[]) as k (account_id, message_id)
      join nameless_tries t on t.account_id = k.account_id and t.message_id = k.message_id
      order by t.account_id, t.message_id, t.segment, t.try
      for update of t`,
    values: columns(fieldsOf(messages, 'accountId', 'messageId')),
  })
}

/** After late answers: schedules checks of their tries and messages, which may be complete now. By primary key prefix. */
export async function hintLate(tx: Tx, answers: Pick<Answer, 'accountId' | 'messageId'>[]): Promise<void> {
  if (answers.length === 0) return
  const { rows } = await tx.query<Place>({
    name: 'hint-late',
    text: `
      select t.ctid::text as at
      from unnest($1::uuid[], $2::uuid[]) as a (account_id, message_id)
      cross join lateral (
        select ctid from nameless_tries where account_id = a.account_id and message_id = a.message_id for update skip locked) t`,
    values: columns(fieldsOf(answers, 'accountId', 'messageId')),
  })
  await lookSoon(tx, rows)
}

interface Place {
  at: string
}

/** Schedules an early check of tries. Skips locked ones: their sweep is about to lock messages, which the caller may hold. It checks again soon. */
async function lookSoon(tx: Tx, tries: readonly Place[]): Promise<void> {
  if (tries.length === 0) return
  await tx.query({
    name: 'look-soon',
    text: 'update nameless_tries set check_at = now() where ctid = any ($1::tid[])',
    values: [tries.map(({ at }) => at)],
  })
}

/** When the next try is due. By nameless_tries_check_at and nameless_tries_resend_at. */
export const triesDue = `
  select least((select min(check_at) from nameless_tries), (select min(resend_at) from nameless_tries))`
