/** Discards texts, and messages past their retention, once the messages are over: notes of these, and the sweep. */
import { columns, fieldsOf } from '../ground/db/array.ts'
import { inTransaction, type Db, type Tx } from '../ground/db/db.ts'
import { findDueSpan, spanOf, within } from '../ground/db/span.ts'
import { changeEventsOf } from '../events/events-redact.ts'
import { hasText, isOver, setsOfRedaction, withoutTexts } from '../message/redact.ts'
import { deleteOver } from './retention-account.ts'
import { lockDependents } from './dependents.ts'

/**
 * Redacts or deletes noted messages that are over. Checks the others again when they are a quarter older: soon while young, at last once an
 * hour. Returns the number of notes checked; call again while it is `limit`. Locks the notes, skipping those of other processes (index
 * discards_check_at), and the messages, by primary key.
 */
export async function discardDue(db: Db, limit = 200): Promise<number> {
  return inTransaction(db, async (tx) => {
    const span = await findDueSpan(tx, 'discards', limit)
    if (!span) return 0
    const { rows } = await tx.query<{ accountId: string; id: string; isOver: boolean; isPast: boolean | null }>({
      text: `
        with due as materialized (
          select ctid as row_at, account_id, message_id
          from discards
          where check_at <= now()
            and message_id ${within(span)}
          order by check_at
          limit $1
          for update skip locked
        ), judged as materialized (
          select d.row_at, d.account_id, d.message_id, m.created_at, m.account_id is null or ${isOver('m')} as is_over,
            m.created_at < now() - make_interval(days => a.message_days) as is_past
          from due d
          left join accounts a on a.id = d.account_id
          left join lateral (
            select account_id, status, expires_at, created_at
            from messages
            where account_id = d.account_id
              and id = d.message_id
              and id ${within(span)}
            limit 1
          ) m on true
        ), gone as (
          delete from discards where ctid = any (array(select row_at from judged where is_over))
        ), later as (
          update discards d
          set check_at = now() + least(interval '1 hour', greatest(interval '2 seconds', (
            now() - (select j.created_at from judged j where j.account_id = d.account_id and j.message_id = d.message_id)) / 4))
          where ctid = any (array(select row_at from judged where not is_over))
        )
        select account_id as "accountId", message_id as id, is_over as "isOver", is_past as "isPast" from judged`,
      values: [limit],
    })
    const over = rows.filter((row) => row.isOver)
    await lockDependents(
      tx,
      over.flatMap(({ accountId, id, isPast }) => (isPast === true ? [{ accountId, messageId: id }] : [])),
    )
    await redactMessages(tx, over)
    for (const [accountId, messages] of Map.groupBy(over, (row) => row.accountId)) {
      await changeEventsOf(
        tx,
        accountId,
        messages.map(({ id }) => id),
        withoutTexts,
      )
      await deleteOver(
        tx,
        accountId,
        messages.flatMap(({ id, isPast }) => (isPast === true ? [id] : [])),
      )
    }
    return rows.length
  })
}

/** Locks the messages; by primary key. */
async function redactMessages(tx: Tx, messages: readonly { accountId: string; id: string }[]): Promise<void> {
  if (messages.length === 0) return
  await tx.query({
    text: `
      update messages m
      set ${setsOfRedaction}
      from unnest($1::uuid[], $2::uuid[]) as d (account_id, message_id)
      where m.account_id = d.account_id
        and m.id = d.message_id
        and m.id ${within(spanOf(messages.map(({ id }) => id)))}
        and ${hasText('m')}`,
    values: columns(fieldsOf(messages, 'accountId', 'id')),
  })
}
