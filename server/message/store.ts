/** Reads of messages. Every statement is scoped by account, the first column of its index. */
import type { Db, Queryable, Tx } from '../ground/db/db.ts'
import { spanOf, within } from '../ground/db/span.ts'
import { found } from '../ground/base/errors.ts'
import { parseId } from '../ground/base/ids.ts'
import type { Draft } from './draft.ts'
import { messageColumns, type MessageRow } from './message.ts'

export async function findMessage(db: Db | Tx, accountId: string, id: string): Promise<MessageRow | null> {
  const { rows } = await db.query<MessageRow>(
    `select ${messageColumns('m')}
     from messages m
     where m.account_id = $1
       and m.id = $2`,
    [accountId, id],
  )
  return rows[0] ?? null
}

/** @throws ApiError `not_found`. */
export async function requireMessage(db: Db | Tx, accountId: string, shownId: string): Promise<MessageRow> {
  const id = parseId('msg', shownId)
  return found(id && (await findMessage(db, accountId, id)), 'There is no such message.')
}

/** The message of an idempotency key. By primary key; null if the key is unknown or its row was deleted. */
export async function findKey(
  db: Db,
  accountId: string,
  operation: string,
  key: string,
): Promise<{ messageId: string; fingerprint: Buffer } | null> {
  const { rows } = await db.query<{ messageId: string; fingerprint: Buffer }>(
    `select resource_id as "messageId", fingerprint
     from idempotency_keys
     where account_id = $1 and operation = $2 and key = $3`,
    [accountId, operation, key],
  )
  return rows[0] ?? null
}

/** Null if unknown. By primary key, or the unique (account_id, key). */
export async function findCampaignId(db: Queryable, accountId: string, idOrKey: string): Promise<string | null> {
  const id = parseId('cmp', idOrKey)
  const { rows } = await db.query<{ id: string }>({
    name: id ? 'find-campaign-id' : 'find-campaign-id-by-key',
    text: `select id from campaigns where account_id = $1 and ${id ? 'id' : 'key'} = $2`,
    values: [accountId, id ?? idOrKey],
  })
  return rows[0]?.id ?? null
}

/** Whether the account has the draft's campaign; by primary key, or the unique (account_id, key). */
export async function hasCampaign(
  db: Db,
  { accountId, campaignId, campaignKey }: Pick<Draft, 'accountId' | 'campaignId' | 'campaignKey'>,
): Promise<boolean> {
  const { rowCount } = await db.query('select from campaigns where account_id = $1 and (id = $2 or key = $3)', [
    accountId,
    campaignId,
    campaignKey,
  ])
  return rowCount === 1
}

/** Reads messages of any accounts by both ids. Each by its key: the range between the first and the last may hold all messages. */
export async function readMessages(
  db: Queryable,
  keys: readonly { accountId: string; id: string }[],
): Promise<Map<string, MessageRow>> {
  if (keys.length === 0) return new Map()
  const ids = keys.map((key) => key.id)
  const { rows } = await db.query<MessageRow>(
    `select m.*
     from unnest($1::uuid[], $2::uuid[]) as k (account_id, id)
     cross join lateral (
       select ${messageColumns('m')}
       from messages m
       where m.account_id = k.account_id and m.id = k.id and m.id ${within(spanOf(ids))}
       offset 0
     ) m`,
    [keys.map((key) => key.accountId), ids],
  )
  return new Map(rows.map((row) => [row.id, row]))
}

/** One try of a segment, for the timeline. */
export interface SubmissionRow {
  segment: number
  try: number
  state: 'accepted' | 'refused' | 'unknown'
  carrierMessageId: string | null
  commandStatus: number | null
  intentAt: Date | null
  answeredAt: Date
  receiptState: string | null
  receiptStat: string | null
  receiptAt: Date | null
  /** A receipt proved the acceptance, and not an answer. */
  isAdopted: boolean
  /** Its outcome was unknown, and a later try repeats it. */
  isRepeated: boolean
}

/** The accepted try of a one-segment message ($1, $2), which has no row among the submissions (decision 0013). */
export const plainTry = `
  select 1 as segment, attempts as try, 'accepted' as state, provider_message_id as carrier_message_id, 0 as command_status,
    queued_at as intent_at, sent_at as answered_at, null as receipt_state, null as receipt_stat, null::timestamptz as receipt_at, link_id,
    false as is_adopted, false as is_repeated
  from messages
  where account_id = $1 and id = $2 and segments = 1 and sent_at is not null and provider_message_id is not null
    and not exists (select 1 from submissions where account_id = $1 and message_id = $2 and state = 'accepted')`

/** The tries of a message in order. By primary key prefix. An accepted one-segment message has its try in its own row. */
export async function listSubmissions(db: Db, accountId: string, messageId: string): Promise<SubmissionRow[]> {
  const { rows } = await db.query<SubmissionRow>(
    `select segment, try, state, carrier_message_id as "carrierMessageId", command_status as "commandStatus",
       intent_at as "intentAt", answered_at as "answeredAt", receipt_state as "receiptState", receipt_stat as "receiptStat",
       receipt_at as "receiptAt", is_adopted as "isAdopted", is_repeated as "isRepeated"
     from submissions
     where account_id = $1 and message_id = $2
     union all
     select segment, try, state, carrier_message_id, command_status, intent_at, answered_at, receipt_state, receipt_stat, receipt_at, is_adopted,
       is_repeated
     from (${plainTry}) p
     order by try, segment`,
    [accountId, messageId],
  )
  return rows
}
