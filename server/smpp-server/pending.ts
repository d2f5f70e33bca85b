/**
 * Pending receipts: noted at accept, turned into deliveries when the message ends. One statement deletes the note and creates the
 * deliveries, so the process that sees the end first creates each receipt once.
 */
import { Batcher } from '../ground/base/batch.ts'
import { columns, fieldsOf } from '../ground/db/array.ts'
import type { Db, Queryable } from '../ground/db/db.ts'
import { isRetryable, isUnavailable } from '../ground/db/failure.ts'
import { dayOf, perDay } from '../ground/db/partitions.ts'
import { newId } from '../ground/base/ids.ts'
import { asksFor, errOf, finalStateOf } from './state.ts'

export interface PendingReceipt {
  accountId: string
  messageId: string
  credentialId: string
  clientId: string
  /** registered_delivery of each part, in order. */
  registeredDelivery: number[]
  /** Its gathering, deleted with the note, so that the note is made once. */
  gatheringId?: string
}

export interface MessageKey {
  accountId: string
  messageId: string
}

// Spares a database that is recovering.
const retryMs = 500

export class PendingReceipts {
  readonly #batcher: Batcher<PendingReceipt, void>
  #isClosed = false

  constructor(db: Db) {
    const flush = async (pending: PendingReceipt[]): Promise<void[]> => {
      await insertPending(db, pending)
      // A message may have ended before its note, and its event was skipped. Later ends find the note.
      await settlePending(db, pending)
      return pending.map(() => undefined)
    }
    this.#batcher = new Batcher(flush, { sizeMax: 500, flushesMax: 2, isForAll: isUnavailable })
  }

  /** Resolves when the note is committed, false if none is needed. Retries until then, because the message is accepted. */
  async note(pending: PendingReceipt): Promise<boolean> {
    if (pending.registeredDelivery.every((flags) => (flags & 3) === 0)) return false
    for (;;) {
      try {
        await this.#batcher.push(pending)
        return true
      } catch (error) {
        if (!isRetryable(error) || this.#isClosed) throw error
        await new Promise((resolve) => setTimeout(resolve, retryMs))
      }
    }
  }

  close(): Promise<void> {
    this.#isClosed = true
    return this.#batcher.drain()
  }
}

/**
 * Repeatable: a message is noted once. A gathered one is noted with the end of its gathering (locked by its unique id), because its note
 * may be settled before another process repeats it. Skips deleted credentials.
 */
async function insertPending(db: Db, pending: PendingReceipt[]): Promise<void> {
  await db.query({
    name: 'insert-smpp-submits',
    text: `
      with ended as (
        delete from smpp_gatherings
        where id = any ($6::uuid[])
        returning id
      )
      insert into smpp_submits (account_id, message_id, credential_id, client_id, registered_delivery)
      select o.account_id, o.message_id, o.credential_id, o.client_id, o.registered::smallint[]
      from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[], $5::text[], $6::uuid[])
        as o (account_id, message_id, credential_id, client_id, registered, gathering_id)
      join smpp_credentials c on c.account_id = o.account_id and c.id = o.credential_id
      where o.gathering_id is null or o.gathering_id in (select id from ended)
      on conflict do nothing`,
    values: columns([
      ...fieldsOf(pending, 'accountId', 'messageId', 'credentialId', 'clientId'),
      pending.map((one) => `{${one.registeredDelivery.join()}}`),
      pending.map((one) => one.gatheringId ?? null),
    ]),
  })
}

/** Creates the deliveries of ended messages among these. */
export async function settlePending(db: Queryable, messages: readonly MessageKey[]): Promise<void> {
  if (messages.length === 0) return
  await db.query({
    ...settleStatement(dayOf(messages.map(({ messageId }) => messageId))),
    values: columns([...fieldsOf(messages, 'accountId', 'messageId'), messages.map(() => newId())]),
  })
}

// Locks the notes. Reads messages one by one, by primary key, whatever number the planner expects. Passes on a carrier's own number if it
// is one and fits the three characters of `err`; else the known reason.
const settleStatement = perDay(
  'settle-smpp-submits',
  (day) => `
  with ended as materialized (
    select k.account_id, k.message_id, k.id, m.*
    from unnest($1::uuid[], $2::uuid[], $3::uuid[]) as k (account_id, message_id, id)
    cross join lateral (
      select m.their_number, m.our_number, m.completed_at, m.receipt_err, m.error_code, ${finalStateOf('m')} as state
      from messages${day} m
      where m.account_id = k.account_id and m.id = k.message_id
      limit 1
    ) m
    where m.state is not null
  ), taken as (
    delete from smpp_submits s
    using ended e
    where s.account_id = e.account_id and s.message_id = e.message_id
    returning s.account_id, s.credential_id, s.client_id, s.registered_delivery, s.submitted_at,
      e.id, e.state, e.their_number, e.our_number, e.completed_at, e.receipt_err, e.error_code
  )
  insert into smpp_deliveries (account_id, credential_id, id, part, kind, subject_id, parts, source, destination, state, err,
    submitted_at, done_at)
  select t.account_id, t.credential_id, t.id, p.part, 'receipt', t.client_id, cardinality(t.registered_delivery),
    t.their_number, coalesce(t.our_number, ''), t.state,
    ${errOf('t')},
    t.submitted_at, coalesce(t.completed_at, now())
  from taken t
  cross join lateral unnest(t.registered_delivery) with ordinality as p (flags, part)
  where ${asksFor('p.flags', 't.state')}`,
)

// Some 20 ms; all canceled ones among them are settled together.
const looksMax = 5000

/**
 * Settles canceled messages, which have no event unless someone subscribes. Checks some notes, in order after one (null: from the first),
 * because notes of unconfirmed messages may be millions; returns the last one checked, null at the end. By the primary keys of both tables.
 */
export async function settleCanceled(
  db: Db,
  after: MessageKey | null,
  limit: number = looksMax,
): Promise<MessageKey | null> {
  const nil = '00000000-0000-0000-0000-000000000000'
  const { rows } = await db.query<MessageKey & { canceled: MessageKey[] }>({
    name: 'find-canceled-smpp-submits',
    text: `
      with piece as materialized (
        select account_id, message_id
        from smpp_submits
        where (account_id, message_id) > ($1::uuid, $2::uuid)
        order by account_id, message_id
        limit $3
      ), canceled as materialized (
        select json_agg(json_build_object('accountId', p.account_id, 'messageId', p.message_id)) as keys
        from piece p
        cross join lateral (
          select 1 from outcomes o
          where o.account_id = p.account_id and o.status = 'canceled' and o.message_id = p.message_id
          limit 1
        ) o
      )
      select account_id as "accountId", message_id as "messageId", coalesce((select keys from canceled), '[]') as canceled
      from piece
      order by account_id desc, message_id desc
      limit 1`,
    values: [after?.accountId ?? nil, after?.messageId ?? nil, limit],
  })
  const [last] = rows
  if (!last) return null
  await settlePending(db, last.canceled)
  return { accountId: last.accountId, messageId: last.messageId }
}

/** Deletes notes of messages that never ended, after the longest wait for a receipt. */
export async function forgetPending(db: Db): Promise<void> {
  await db.query(`delete from smpp_submits where submitted_at < now() - interval '400 days'`)
}
