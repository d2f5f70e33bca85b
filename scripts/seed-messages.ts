/** Seeded messages with all rows that the ledger would have written. */
import type { Tx } from '../server/ground/db/db.ts'
import { type Status, deliveryStatusOf, isFinal } from '../server/message/message.ts'

export interface Seed {
  id: string
  createdAt: Date
  status: Exclude<Status, 'sending' | 'failed'>
  number: string
  campaignId: string | null
  contactId: string | null
  body: string
  encoding: 'GSM-7' | 'UCS-2'
  characters: number
  segments: number
}

interface Target {
  accountId: string
  laneId: string
  linkId: string | null
  carrierId: string | null
}

// Per thousand, as in a healthy installation.
const shares: Record<Seed['status'], number> = {
  delivered: 880,
  undelivered: 25,
  rejected: 12,
  expired: 6,
  unconfirmed: 8,
  canceled: 5,
  sent: 12,
  queued: 6,
  scheduled: 6,
  received: 40,
}
const wheel = Object.entries(shares).flatMap(([status, share]) =>
  Array.from({ length: share }, () => status as Seed['status']),
)

/** Statuses in a fixed, mixed order; every status occurs in any thousand. */
export function statusesInTurn(): (n: number) => Seed['status'] {
  // 617 is coprime to 1000, so that the statuses are mixed and none is missed.
  return (n) => wheel[(n * 617) % wheel.length] ?? 'delivered'
}

const submitted: readonly Seed['status'][] = ['delivered', 'undelivered', 'sent', 'unconfirmed', 'rejected']
const errors: Partial<Record<Seed['status'], [code: string, stage: string, raw: string | null]>> = {
  undelivered: ['unknown_subscriber', 'receipt', 'UNDELIV err:001'],
  rejected: ['invalid_destination', 'submit', 'ESME_RINVDSTADR'],
  expired: ['expired_in_queue', 'queue', null],
  unconfirmed: ['outcome_unknown', 'submit', 'the carrier did not answer in time'],
}
const receiptStats: Partial<Record<Seed['status'], string>> = { delivered: 'DELIVRD', undelivered: 'UNDELIV' }
const submissionStates: Partial<Record<Seed['status'], string>> = { rejected: 'refused', unconfirmed: 'unknown' }
const answerMs = 300
const receiptMs = 2500

export async function insertMessages(tx: Tx, target: Target, seeds: Seed[]): Promise<void> {
  const column = <T>(pick: (seed: Seed) => T): T[] => seeds.map(pick)
  const after = (seed: Seed, ms: number): Date => new Date(seed.createdAt.getTime() + ms)
  const isSubmitted = (seed: Seed): boolean => submitted.includes(seed.status)
  await tx.query(insertSql, [
    target.accountId,
    column((s) => s.id),
    column((s) => (s.status === 'received' ? 'inbound' : 'outbound')),
    column((s) => s.status),
    column((s) => s.number),
    column((s) => s.body),
    column((s) => s.encoding),
    column((s) => s.characters),
    column((s) => s.segments),
    column((s) => s.campaignId),
    column((s) => s.contactId),
    column((s) => s.createdAt),
    column((s) =>
      isSubmitted(s) && s.status !== 'rejected' && s.status !== 'unconfirmed' ? after(s, answerMs) : null,
    ),
    column((s) => (isFinal(s.status) ? after(s, s.status === 'received' ? 0 : receiptMs) : null)),
    column((s) => errors[s.status]?.[0] ?? null),
    column((s) => errors[s.status]?.[1] ?? null),
    column((s) => errors[s.status]?.[2] ?? null),
    column((s) => receiptStats[s.status] ?? null),
    column(isSubmitted),
    column(
      (s) =>
        (isFinal(s.status) && deliveryStatusOf(s.status) !== null) || ['unconfirmed', 'canceled'].includes(s.status),
    ),
    column((s) => submissionStates[s.status] ?? 'accepted'),
    target.carrierId,
    target.linkId,
    target.laneId,
  ])
}

// Locks nothing that exists; every table is written through its primary key.
const insertSql = `
  with s as materialized (
    select * from unnest($2::uuid[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::int[], $9::int[],
      $10::uuid[], $11::uuid[], $12::timestamptz[], $13::timestamptz[], $14::timestamptz[], $15::text[], $16::text[],
      $17::text[], $18::text[], $19::boolean[], $20::boolean[], $21::text[])
      as s (id, direction, status, their_number, body, encoding, characters, segments, campaign_id, contact_id, created_at,
        sent_at, completed_at, error_code, error_stage, error_raw, receipt_stat, is_submitted, is_outcome, submission_state)
  ), m as (
    insert into messages (account_id, id, direction, status, sequence, their_number, our_number, body, encoding, characters,
      segments, country, campaign_id, contact_id, tags, send_at, expires_at, created_at, updated_at, queued_at, sent_at, completed_at,
      carrier_id, link_id, provider_message_id, attempts, segments_delivered, error_code, error_stage, error_raw, receipt_stat)
    select $1, id, direction, status,
      case when status in ('queued', 'scheduled', 'received') then 1 when status = 'delivered' then 3 else 2 end,
      their_number, '15557654321', body, encoding, characters, segments, 'US', campaign_id, contact_id, '{seed}',
      case when status = 'scheduled' then now() + interval '30 days' end,
      case when direction = 'outbound' then case when status in ('queued', 'scheduled') then now() + interval '60 days'
        else created_at + interval '10 hours' end end,
      created_at, coalesce(completed_at, sent_at, created_at), case when direction = 'outbound' and status <> 'scheduled' then created_at end,
      sent_at, completed_at, case when is_submitted then $22::uuid end, case when is_submitted then $23::uuid end,
      case when sent_at is not null then 'seed-' || id end, case when is_submitted then 1 else 0 end,
      case when status = 'delivered' then segments else 0 end, error_code, error_stage, error_raw, receipt_stat
    from s
  ), o as (
    insert into outcomes (account_id, status, message_id, error_code)
    select $1, status, id, error_code from s where is_outcome
  ), t as (
    insert into submissions (account_id, message_id, segment, try, link_id, state, carrier_message_id, intent_at, answered_at,
      receipt_state, receipt_stat, receipt_at)
    select $1, id, segment, 1, $23::uuid, submission_state,
      case when submission_state = 'accepted' then 'seed-' || id || '-' || segment end, created_at, coalesce(sent_at, created_at),
      case receipt_stat when 'DELIVRD' then 'delivered' when 'UNDELIV' then 'undeliverable' end, receipt_stat,
      case when receipt_stat is not null then completed_at end
    from s, generate_series(1, segments) as segment
    where is_submitted and $23::uuid is not null
  ), c as (
    insert into carrier_ids (link_id, carrier_message_id, account_id, message_id, segment, segments, at)
    select $23::uuid, 'seed-' || id || '-' || segment, $1, id, segment, segments, sent_at
    from s, generate_series(1, segments) as segment
    where sent_at is not null and $23::uuid is not null
  ), q as (
    insert into queue (lane_id, message_id, account_id, segments, expires_at)
    select $24::uuid, id, $1, segments, now() + interval '60 days' from s where status = 'queued'
  )
  insert into delayed (account_id, message_id, lane_id, segments, due_at, expires_at)
  select $1, id, $24::uuid, segments, now() + interval '30 days', now() + interval '60 days' from s where status = 'scheduled'`
