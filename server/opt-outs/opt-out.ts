/** Opts people out of an account and in again, with all consequences, in one transaction. */
import type { Queryable, Tx } from '../ground/db/db.ts'
import { spanOf, within } from '../ground/db/span.ts'
import { recordEvents, type EventType, type NewEvent, type Posting, type Needs } from '../events/events.ts'
import { newId, showId } from '../ground/base/ids.ts'
import type { Vault } from '../ground/sealing/vault.ts'
import { cancelWaiting } from '../messages/cancel.ts'
import { hashForms, recordConsents, type ConsentEvidence, type ConsentSource } from '../message/consent.ts'
import type { Keyword } from './keywords.ts'
import { recordMoves } from '../message/moved.ts'

export type ConsentContext = Needs<'vault' | 'texts' | 'outbox' | 'subscriptions'>

export interface Origin {
  source: ConsentSource
  /** Public id of the key or user; null: the person. */
  actor: string | null
  keyword?: Keyword
  messageId?: string
  campaignId?: string | null
  /** The broadcast whose message a reply answers. */
  broadcastId?: string | null
  /** From a simulated phone. */
  isTest?: boolean
}

export interface OptOutInput {
  number: string
  reason?: string | null
  evidence?: ConsentEvidence
}

/**
 * Messages of opt-outs that came from simulated phones only: a person's or a caller's statement replaces them. By the unique keys of opt_outs, and
 * the primary key of messages.
 */
async function findSimulated(tx: Tx, accountId: string, numbers: string[], hashes: Buffer[]): Promise<string[]> {
  const { rows } = await tx.query<{ id: string }>({
    name: 'find-opt-outs-by-message',
    text: `
      select message_id as id
      from opt_outs
      where account_id = $1 and number = any ($2) and message_id is not null
      union
      select message_id
      from opt_outs
      where account_id = $1 and number_hmac = any ($3) and message_id is not null`,
    values: [accountId, numbers, hashes],
  })
  if (rows.length === 0) return []
  const ids = rows.map(({ id }) => id)
  const { rows: tests } = await tx.query<{ id: string }>(
    `select id from messages where account_id = $1 and id = any ($2) and id ${within(spanOf(ids))} and is_test`,
    [accountId, ids],
  )
  return tests.map(({ id }) => id)
}

/**
 * Opts people out of all messages of the account, each number at most once a call: writes opt-outs, the ledger of consent and events, and cancels
 * queued messages. `added` has the numbers that were not out before, or only by a simulated phone. Offer the postings after the commit. Locks what it
 * inserts, in the order of the numbers, and the queued messages.
 */
export async function optOut(
  tx: Tx,
  context: ConsentContext,
  accountId: string,
  origin: Origin,
  people: readonly OptOutInput[],
): Promise<{ added: Set<string>; postings: Posting[] }> {
  if (people.length === 0) return { added: new Set(), postings: [] }
  const numbers = people.map(({ number }) => number)
  const hashes = numbers.map((number) => hashForms(context.vault, accountId, number))
  const { rows } = await tx.query<{ number: string }>({
    name: 'opt-out',
    text: `
      with p as materialized (
        select *
        from unnest($4::uuid[], $5::text[], $6::text[], $7::bytea[], $11::bytea[]) as p (id, number, reason, hash, old_hash)
      ), taken as (
        update opt_outs
        set source = $2, reason = p.reason, message_id = $3, campaign_id = $9, broadcast_id = $10
        from p
        where opt_outs.account_id = $1
          and opt_outs.number = p.number
          and opt_outs.message_id = any ($8)
        returning opt_outs.number
      ), added as (
        insert into opt_outs (account_id, id, number, source, reason, message_id, campaign_id, broadcast_id)
        select $1, p.id, p.number, $2, p.reason, $3, $9::uuid, $10::uuid
        from p
        where not exists (
          select from opt_outs o
          where o.account_id = $1
            and o.number_hmac in (p.hash, p.old_hash)
        )
        order by p.number
        on conflict (account_id, number) do nothing
        returning number
      )
      select number from taken
      union all
      select number from added`,
    values: [
      accountId,
      // Its name from before the ledger.
      origin.source === 'contact' ? 'consent' : origin.source,
      origin.messageId ?? null,
      people.map(() => newId()),
      numbers,
      people.map(({ reason }) => reason ?? null),
      hashes.map(([current]) => current),
      origin.isTest ? [] : await findSimulated(tx, accountId, numbers, hashes.flat()),
      // Of a reply: the campaign of the message it answered.
      origin.messageId === undefined ? null : origin.campaignId,
      origin.broadcastId,
      hashes.map(([, old]) => old ?? null),
    ],
  })
  const added = new Set(rows.map(({ number }) => number))
  const canceled = await cancelWaiting(tx, accountId, { theirNumbers: numbers })
  // A second STOP is a new statement; a list imported again is not.
  const said = origin.source === 'reply' ? people : people.filter(({ number }) => added.has(number))
  await record(tx, context, accountId, 'opted_out', origin, said)
  await settleSuspicions(tx, accountId, numbers)
  const postings = await recordMoves(tx, canceled, context)
  const changed = people.filter(({ number }) => added.has(number))
  return {
    added,
    postings: [...postings, ...(await tell(tx, context, accountId, 'contact.opted_out', origin, changed))],
  }
}

/** Removes an opt-out, with the ledger and the event; false if there was none. Locks the row. */
export async function optIn(
  tx: Tx,
  context: ConsentContext,
  accountId: string,
  origin: Origin,
  person: OptOutInput,
): Promise<{ isChange: boolean; postings: Posting[] }> {
  const hashes = hashForms(context.vault, accountId, person.number)
  const { rowCount } = await tx.query({
    name: 'opt-in',
    text: `
      delete from opt_outs
      where account_id = $1
        and (number = $2 or number_hmac = any ($3))
        and ($4::uuid[] is null or message_id = any ($4))`,
    values: [
      accountId,
      person.number,
      hashes,
      // A simulated START takes back a simulated STOP, never a person's own.
      origin.isTest ? await findSimulated(tx, accountId, [person.number], hashes) : null,
    ],
  })
  const isChange = (rowCount ?? 0) > 0
  if (isChange || (origin.source === 'reply' && !origin.isTest))
    await record(tx, context, accountId, 'opted_in', origin, [person])
  const postings = isChange ? await tell(tx, context, accountId, 'contact.opted_in', origin, [person]) : []
  return { isChange, postings }
}

/**
 * Forgets the number of an opt-out, whose keyed hash goes on refusing messages; false if there is none. The number is hidden from now on;
 * `forgetNumbers` deletes it.
 */
export async function forgetNumber(tx: Tx, vault: Vault, accountId: string, number: string): Promise<boolean> {
  const hashes = hashForms(vault, accountId, number)
  const { rowCount } = await tx.query({
    name: 'forget-number',
    text: `
      update opt_outs
      set number_hmac = $3, reason = null
      where account_id = $1
        and (number = $2 or number_hmac = any ($4))`,
    values: [accountId, number, hashes[0], hashes],
  })
  await settleSuspicions(tx, accountId, [number])
  return (rowCount ?? 0) > 0
}

// Longer than any accept statement: messages accepted before the opt-out committed are visible by then.
const forgetAfterMinutes = 2

/** SQL for the time at which the next number may be forgotten. Index opt_outs_forgetting. */
export const forgettingDue = `
  select created_at + interval '${forgetAfterMinutes} minutes'
  from opt_outs
  where number is not null and number_hmac is not null
  order by created_at
  limit 1`

/**
 * Deletes the numbers to be forgotten. Claims join by number, so it stays while a message to it may still be claimed or resent. Returns the count;
 * call again while it is `limit`. Index opt_outs_forgetting; messages_their_number for messages under way.
 */
export async function forgetNumbers(db: Queryable, limit = 100): Promise<number> {
  const { rowCount } = await db.query(
    `
      update opt_outs o
      set number = null
      from (
        select account_id, id from opt_outs
        where ${isToForget}
          and not exists (
            select from messages m
            where m.account_id = opt_outs.account_id
              and m.their_number = opt_outs.number
              and m.direction = 'outbound'
              and (m.status in ('scheduled', 'queued', 'sending')
                or (m.status = 'unconfirmed' and m.error_code = 'outcome_unknown' and m.expires_at > now()))
          )
        limit $2
        for update skip locked
      ) x
      where o.account_id = x.account_id and o.id = x.id`,
    [forgetAfterMinutes, limit],
  )
  return rowCount ?? 0
}

const isToForget = `number is not null
          and number_hmac is not null
          and created_at < now() - make_interval(mins => $1)`

/** Removes suspected replies of people who are opted out, or were reviewed. Index opt_out_suspicions_number. */
async function settleSuspicions(tx: Tx, accountId: string, numbers: readonly string[]): Promise<void> {
  await tx.query({
    name: 'settle-suspicions',
    text: `delete from opt_out_suspicions where account_id = $1 and number = any ($2::text[])`,
    values: [accountId, numbers],
  })
}

function record(
  tx: Tx,
  { vault }: ConsentContext,
  accountId: string,
  status: 'opted_in' | 'opted_out',
  { source, actor, keyword, messageId, campaignId }: Origin,
  people: readonly OptOutInput[],
): Promise<void> {
  const entries = people.map(({ number, reason, evidence }) => ({
    number,
    status,
    source,
    actor,
    campaignId: campaignId ?? null,
    messageId: messageId ?? null,
    evidence: { ...evidence, ...(reason && { reason }), ...(keyword && { keyword }) },
  }))
  return recordConsents(tx, vault, accountId, entries)
}

async function tell(
  tx: Tx,
  { outbox, subscriptions }: ConsentContext,
  accountId: string,
  type: Extract<EventType, `contact.${string}`>,
  { source, keyword, messageId, campaignId }: Origin,
  people: readonly OptOutInput[],
): Promise<Posting[]> {
  if (people.length === 0 || !subscriptions.wants(accountId, type)) return []
  const events = people.map(({ number, reason }): NewEvent => ({
    accountId,
    type,
    ...(messageId && { messageId }),
    data: {
      phone_number: number,
      source,
      reason: reason ?? null,
      keyword: keyword ?? null,
      message: messageId ? showId('msg', messageId) : null,
      campaign: campaignId ? showId('cmp', campaignId) : null,
    },
  }))
  return recordEvents(tx, events, outbox)
}
