/**
 * Creates deliveries from the event log. Each account's cursor, (txid, id), stays below the oldest running transaction, so that late
 * commits are not skipped. It moves in the transaction that creates the deliveries, so that none is created twice.
 */
import { columns, fieldsOf } from '../ground/db/array.ts'
import { inTransaction, type Db, type Tx } from '../ground/db/db.ts'
import { newId } from '../ground/base/ids.ts'
import { firstIdOf, floorNow } from './event-cursor.ts'
import { settlePending } from './pending.ts'

/** Days until an undelivered delivery expires. */
export const deliveryDaysMax = 3

const accountsMax = 50
/** Events read at a time per account, by default. */
export const eventsMax = 500

interface EventRow {
  accountId: string
  txid: string
  id: string
  type: string
  messageId: string | null
}

/**
 * Reads new events of accounts with SMPP clients, except those that another process is reading, `limit` events of each; true: there may be
 * more.
 */
export async function fillDeliveries(db: Db, limit: number = eventsMax): Promise<boolean> {
  const found = await findAccounts(db)
  if (found.length === 0) return false
  return inTransaction(db, async (tx) => {
    const accounts = await lockCursors(tx, found)
    if (accounts.length === 0) return false
    const events = await readEvents(tx, accounts, limit)
    const ended = events.filter(({ type }) => type === 'message.delivered' || type === 'message.failed')
    await settlePending(
      tx,
      ended.flatMap(({ accountId, messageId }) => (messageId === null ? [] : [{ accountId, messageId }])),
    )
    await deliverReplies(
      tx,
      events.filter(({ type }) => type === 'message.received'),
    )
    await moveCursors(tx, events, limit)
    return events.length >= limit
  })
}

// Unread events of the account of a cursor c, by events_order; their ids bound the days.
const unread = `
          from events
          where account_id = c.account_id
            and txid < pg_snapshot_xmin(pg_current_snapshot())
            and (txid, id) > (c.txid, c.event_id)
            and id > greatest(c.floor_id, ${firstIdOf(deliveryDaysMax)})`

/** Some accounts with clients and unread events. Takes no lock, because usually there are none. */
async function findAccounts(db: Db): Promise<string[]> {
  const { rows } = await db.query<{ accountId: string }>({
    name: 'find-smpp-accounts',
    text: `
      select c.account_id as "accountId"
      from smpp_cursors c
      where exists (select 1 from smpp_credentials k where k.account_id = c.account_id and k.enabled)
        and exists (
          select 1 ${unread})
      limit $1`,
    values: [accountsMax],
  })
  return rows.map((row) => row.accountId)
}

/** Locks the cursors of accounts, by primary key, skipping locked ones. */
async function lockCursors(tx: Tx, accounts: string[]): Promise<string[]> {
  const { rows } = await tx.query<{ accountId: string }>({
    name: 'lock-smpp-cursors',
    text: `
      select account_id as "accountId"
      from smpp_cursors
      where account_id = any ($1::uuid[])
      for update skip locked`,
    values: [accounts],
  })
  return rows.map((row) => row.accountId)
}

/** The next events of these accounts, by events_order. A statement of its own, so that it sees where the lock's last holder stopped. */
async function readEvents(tx: Tx, accounts: string[], limit: number): Promise<EventRow[]> {
  const { rows } = await tx.query<EventRow>({
    name: 'read-smpp-events',
    text: `
      select c.account_id as "accountId", e.txid::text as txid, e.id, e.type, e.message_id as "messageId"
      from smpp_cursors c
      cross join lateral (
        select txid, id, type, message_id ${unread}
        order by txid, id
        limit $1
      ) e
      where c.account_id = any ($2::uuid[])`,
    values: [limit, accounts],
  })
  return rows
}

/**
 * A reply goes to each client of its account that receives replies and is older than it: live replies to live clients, those of simulated
 * phones to test clients, because a deliver_sm cannot mark the difference. By primary keys.
 */
async function deliverReplies(tx: Tx, events: EventRow[]): Promise<void> {
  if (events.length === 0) return
  await tx.query({
    name: 'deliver-smpp-replies',
    text: `
      insert into smpp_deliveries (account_id, credential_id, id, kind, subject_id, source, destination)
      select r.account_id, c.id, r.id, 'reply', r.message_id, m.their_number, coalesce(m.our_number, '')
      from unnest($1::uuid[], $2::uuid[], $3::uuid[]) as r (account_id, message_id, id)
      join smpp_credentials c on c.account_id = r.account_id and c.receives_replies and c.enabled
      cross join lateral (
        select m.their_number, m.our_number, m.created_at, m.is_test
        from messages m
        where m.account_id = r.account_id and m.id = r.message_id
        limit 1
      ) m
      where m.created_at >= c.created_at
        and m.is_test = (c.mode = 'test')`,
    values: columns([...fieldsOf(events, 'accountId', 'messageId'), events.map(() => newId())]),
  })
}

/** Moves each cursor to the last event read. If an account's log is read to its end, later events are young. */
async function moveCursors(tx: Tx, events: EventRow[], limit: number): Promise<void> {
  const ofAccount = Map.groupBy(events, (event) => event.accountId)
  if (ofAccount.size === 0) return
  const last = [...ofAccount.values()].map((all) => ({ ...(all.at(-1) as EventRow), isFull: all.length >= limit }))
  await tx.query({
    name: 'move-smpp-cursors',
    text: `
      update smpp_cursors c
      set txid = l.txid, event_id = l.id, floor_id = case when l.is_full then c.floor_id else greatest(c.floor_id, ${floorNow}) end
      from unnest($1::uuid[], $2::xid8[], $3::uuid[], $4::boolean[]) as l (account_id, txid, id, is_full)
      where c.account_id = l.account_id`,
    values: columns(fieldsOf(last, 'accountId', 'txid', 'id', 'isFull')),
  })
}
