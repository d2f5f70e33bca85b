/** Rows of deliveries to clients: leased by the delivering node, deleted when accepted, otherwise due again. */
import { columns, fieldsOf } from '../ground/db/array.ts'
import type { Db } from '../ground/db/db.ts'
import { readMessages } from '../message/store.ts'
import type { ReceiptState } from '@heliogram/smpp'
import { firstIdOf } from './event-cursor.ts'
import { deliveryDaysMax } from './fill.ts'

export interface DeliveryKey {
  accountId: string
  credentialId: string
  id: string
  part: number
}

interface Common extends DeliveryKey {
  /** The sender, and our number. */
  source: string
  destination: string
  /** Tries, including this one. */
  tries: number
}

export type Delivery =
  | (Common & {
      kind: 'receipt'
      /** The client's id, and its number of parts. */
      subjectId: string
      parts: number
      state: ReceiptState
      err: string
      submittedAt: Date
      doneAt: Date
    })
  | (Common & { kind: 'reply'; text: string })

/** The result of a try: done, or due again in so many seconds. */
export interface Settled extends DeliveryKey {
  retrySeconds: number | null
}

// Longer than a client may take to respond; dead nodes are fenced long before.
const leaseSeconds = 120

/**
 * Leases due deliveries of credentials, up to a limit each, longest due first. Locks the rows, skipping those of other nodes; by
 * smpp_deliveries_due. Rows leased by a fenced node are due at once. A reply's text comes from its message; sealed texts are read by a
 * second query.
 */
export async function claimDeliveries(
  db: Db,
  nodeId: string,
  room: { accountId: string; credentialId: string; room: number }[],
): Promise<Delivery[]> {
  const { rows } = await db.query<Claimed>({
    name: 'claim-smpp-deliveries',
    text: `
      with picked as materialized (
        select d.row_at
        from unnest($1::uuid[], $2::uuid[], $3::int[]) as r (account_id, credential_id, room)
        cross join lateral (
          select d.ctid as row_at
          from smpp_deliveries d
          where d.account_id = r.account_id
            and d.credential_id = r.credential_id
            and d.due_at <= now()
            and (d.leased_until is null
              or d.leased_until < now()
              or exists (select 1 from nodes n where n.id = d.leased_by and n.fenced_at is not null))
          order by d.due_at, d.id, d.part
          limit r.room
          for update of d skip locked
        ) d
      ), claimed as (
        update smpp_deliveries
        set leased_by = $4, leased_until = now() + make_interval(secs => $5), tries = tries + 1
        where ctid = any (array(select row_at from picked))
        returning *
      )
      select c.account_id as "accountId", c.credential_id as "credentialId", c.id, c.part, c.kind, c.subject_id as "subjectId",
        c.parts, c.source, c.destination, c.state, c.err, c.submitted_at as "submittedAt", c.done_at as "doneAt", c.tries,
        m.body as text
      from claimed c
      left join lateral (
        select m.body from messages m
        where c.kind = 'reply' and m.account_id = c.account_id and m.id = c.subject_id
        limit 1
      ) m on true
      order by c.due_at, c.id, c.part`,
    values: [...columns(fieldsOf(room, 'accountId', 'credentialId', 'room')), nodeId, leaseSeconds],
  })
  const sealed = rows.flatMap((row) =>
    row.kind === 'reply' && row.text === null ? [{ accountId: row.accountId, id: row.subjectId }] : [],
  )
  const messages = sealed.length > 0 ? await readMessages(db, sealed) : null
  return rows.map((row) => ({ ...row, text: row.text ?? messages?.get(row.subjectId)?.body ?? '' }))
}

type Claimed = Delivery & { subjectId: string; text: string | null }

/** Writes the results of tries, by primary key. Repeatable. */
export async function settleDeliveries(db: Db, settled: Settled[]): Promise<void> {
  await db.query({
    name: 'settle-smpp-deliveries',
    text: `
      with s as materialized (
        select s.*, d.row_at
        from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::int[], $5::float8[])
          as s (account_id, credential_id, id, part, retry_seconds)
        cross join lateral (
          select ctid as row_at
          from smpp_deliveries
          where account_id = s.account_id and credential_id = s.credential_id and id = s.id and part = s.part
          offset 0
        ) d
      ), done as (
        delete from smpp_deliveries where ctid = any (array(select row_at from s where retry_seconds is null))
      )
      update smpp_deliveries d
      set due_at = now() + make_interval(secs => (
          select s.retry_seconds from s
          where s.account_id = d.account_id and s.credential_id = d.credential_id and s.id = d.id and s.part = d.part)),
        leased_by = null, leased_until = null
      where ctid = any (array(select row_at from s where retry_seconds is not null))`,
    values: columns(fieldsOf(settled, 'accountId', 'credentialId', 'id', 'part', 'retrySeconds')),
  })
}

/** Deletes expired deliveries; returns their number. By primary key prefix, credential by credential. */
export async function forgetDeliveries(db: Db): Promise<number> {
  const { rowCount } = await db.query(
    `delete from smpp_deliveries d
     using smpp_credentials c
     where d.account_id = c.account_id and d.credential_id = c.id and d.id < ${firstIdOf(deliveryDaysMax)}`,
  )
  return rowCount ?? 0
}
