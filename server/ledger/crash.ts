/** Messages in hand when processes crashed: one that crashes processes repeatedly must not go to the next one. */
import { columns, fieldsOf } from '../ground/db/array.ts'
import type { Db } from '../ground/db/db.ts'

/**
 * Crashes after which the messages in hand are parked. Two may be chance, such as a machine that fails twice under load; three with one message
 * hardly are, and each costs all accounts up to 15 seconds.
 */
export const crashesMax = 3

/** SQL condition: the message under the alias was in hand in too many crashes. By primary key prefix. */
export const isPoison = (m: string): string =>
  `(select count(*) from crashes x where x.account_id = ${m}.account_id and x.message_id = ${m}.id) >= ${crashesMax}`

/** Records messages as in hand of a node that ended. Repeatable: a node ends once. */
export async function noteCrashes(
  db: Db,
  nodeId: string,
  messages: readonly { accountId: string; messageId: string }[],
): Promise<void> {
  await db.query(
    `insert into crashes (account_id, message_id, node_id)
     select distinct account_id, message_id, $3::uuid
     from unnest($1::uuid[], $2::uuid[]) as k (account_id, message_id)
     on conflict do nothing`,
    [...columns(fieldsOf(messages, 'accountId', 'messageId')), nodeId],
  )
}

/** Parks those of these messages that are poison, even if they would not be resent automatically: the reason shows why not to. By primary keys. */
export async function parkPoison(db: Db, messages: readonly { accountId: string; messageId: string }[]): Promise<void> {
  await db.query(
    `update messages m
     set hold_reason = 'parked', updated_at = now()
     from unnest($1::uuid[], $2::uuid[]) as k (account_id, message_id)
     where m.account_id = k.account_id
       and m.id = k.message_id
       and m.status = 'unconfirmed'
       and m.error_code = 'outcome_unknown'
       and m.hold_reason is null
       and ${isPoison('m')}`,
    columns(fieldsOf(messages, 'accountId', 'messageId')),
  )
}
