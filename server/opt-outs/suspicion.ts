/** Replies that may mean STOP: kept for a person's review. */
import type { Queryable, Tx } from '../ground/db/db.ts'
import { recordEvents, type Posting } from '../events/events.ts'
import { showId } from '../ground/base/ids.ts'
import type { PagePlace } from '../ground/http/page.ts'
import { listRows } from '../ground/http/search.ts'
import { hashForms } from '../message/consent.ts'
import type { MessageRow } from '../message/message.ts'
import { renderMessage } from '../message/show.ts'
import type { ConsentContext } from './opt-out.ts'
import { readMessages } from '../message/store.ts'

export interface SuspicionRow {
  /** Of the reply. */
  id: string
  number: string
  body: string | null
  campaignId: string | null
  createdAt: Date
}

/** Keeps a reply for review, with its event; a number that is out already needs none. By the unique keys of opt_outs. */
export async function suspectOptOut(
  tx: Tx,
  { vault, outbox, subscriptions }: ConsentContext,
  accountId: string,
  row: MessageRow,
): Promise<Posting[]> {
  const { rowCount } = await tx.query({
    name: 'suspect-opt-out',
    text: `
      insert into opt_out_suspicions (account_id, message_id, number)
      select $1, $2, $3
      where not exists (select from opt_outs where account_id = $1 and (number = $3 or number_hmac = any ($4)))`,
    values: [accountId, row.id, row.theirNumber, hashForms(vault, accountId, row.theirNumber)],
  })
  const type = 'contact.opt_out_suspected'
  if (rowCount === 0 || !subscriptions.wants(accountId, type)) return []
  const data = {
    phone_number: row.theirNumber,
    message: renderMessage(row),
    campaign: row.campaignId && showId('cmp', row.campaignId),
  }
  return recordEvents(tx, [{ accountId, type, messageId: row.id, data }], outbox)
}

/**
 * One page of replies to review, by the primary key, in the order that `buildPage` expects, with one row more than `limit`; their texts by the
 * primary key of messages.
 */
export async function listSuspicions(db: Queryable, accountId: string, ...place: PagePlace): Promise<SuspicionRow[]> {
  const columns = `message_id as id, number, created_at as "createdAt"`
  const search = { table: 'opt_out_suspicions', columns, accountId, by: 'message_id' }
  const rows = await listRows<Pick<SuspicionRow, 'id' | 'number' | 'createdAt'>>(db, search, ...place)
  const messages = await readMessages(
    db,
    rows.map(({ id }) => ({ accountId, id })),
  )
  return rows.map((row) => {
    const { body = null, campaignId = null } = messages.get(row.id) ?? {}
    return { ...row, body, campaignId }
  })
}

type TakenSuspicion = Pick<SuspicionRow, 'number' | 'body' | 'campaignId'> & { broadcastId: string | null }

/** Takes a reply off the list; null if it is not there. Locks the row, so that only one person decides. */
export async function takeSuspicion(tx: Tx, accountId: string, messageId: string): Promise<TakenSuspicion | null> {
  const { rows } = await tx.query<TakenSuspicion>({
    name: 'take-suspicion',
    text: `
      with gone as (
        delete from opt_out_suspicions
        where account_id = $1
          and message_id = $2
        returning account_id, message_id, number
      )
      select gone.account_id as "accountId", gone.message_id as id, gone.number, m.body, m.body_sealed as "bodySealed", m.campaign_id as "campaignId",
        m.broadcast_id as "broadcastId"
      from gone
      left join messages m on m.account_id = gone.account_id and m.id = gone.message_id and m.id = $2`,
    values: [accountId, messageId],
  })
  return rows[0] ?? null
}
