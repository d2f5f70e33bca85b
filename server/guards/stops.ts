/** Stops: guards that were reached, from the first message they stopped until their release. */
import type { LimitWindow } from '../message/draft.ts'
import { type Static, Type } from 'typebox'
import { guardKinds, type GuardKind } from '../accounts/account-settings.ts'
import { columns, fieldsOf } from '../ground/db/array.ts'
import { nowMs } from '../ground/db/clock.ts'
import type { Db, Queryable, Tx } from '../ground/db/db.ts'
import { recordEvents, type EventType, type NewEvent, type Posting, type Needs } from '../events/events.ts'
import { IdOf, Nullable, showTime, Timestamp } from '../ground/http/http.ts'
import { firstIdAt, newId, showId } from '../ground/base/ids.ts'
import type { PagePlace } from '../ground/http/page.ts'
import { listRows, type Value } from '../ground/http/search.ts'
import { nameOf } from './judge.ts'

export interface GuardRow {
  accountId: string
  id: string
  kind: GuardKind
  key: string
  action: 'block' | 'alert'
  limit: number | null
  since: Date
  startsAt: Date
  endsAt: Date
  refused: number
  releasedAt: Date | null
  releasedBy: string | null
  reason: string | null
  releasedUntil: Date | null
  raisedBy: number | null
}

export const Guard = Type.Object(
  {
    id: IdOf('grd', 'Id of the stop.'),
    object: Type.Literal('guard'),
    kind: Type.Enum([...guardKinds]),
    key: Nullable(
      Type.String({
        description:
          'A country (`?`: numbers without one), the prefix of numbers, or a currency; null: the whole account.',
      }),
    ),
    action: Type.Enum(['block', 'alert'], { description: '`alert`: it only reports, and stops nothing.' }),
    limit: Nullable(
      Type.String({ description: 'The limit, in segments, messages or money; null: nothing is counted.' }),
    ),
    since: Timestamp('When it first stopped a message.'),
    until: Timestamp('When its day or hour ends, and it stops nothing more.'),
    count: Type.Integer({
      minimum: 0,
      description: 'Sends that it has refused; broadcasts wait and do not count.',
    }),
    released_at: Nullable(Timestamp('When it was released.')),
    released_by: Nullable(Type.String({ description: 'Id of the user or API key.' })),
    released_until: Nullable(Timestamp('Until when it does not stop again.')),
    raised_by: Nullable(Type.String({ description: 'By how much its limit was raised.' })),
    reason: Nullable(Type.String()),
  },
  { $id: 'Guard', description: 'A guard that has stopped something.' },
)

const columnsOfGuard = (
  g: string,
): string => `${g}.account_id as "accountId", ${g}.id, ${g}.kind, ${g}.key, ${g}.action,
  ${g}.limit_at as "limit", ${g}.since, ${g}.starts_at as "startsAt", ${g}.ends_at as "endsAt", ${g}.refused,
  ${g}.released_at as "releasedAt", ${g}.released_by as "releasedBy", ${g}.reason, ${g}.released_until as "releasedUntil",
  ${g}.raised_by as "raisedBy"`

/** Formats an amount: millionths of money, whole numbers otherwise. */
export function showAmount(kind: GuardKind, amount: number | null): string | null {
  if (amount === null) return null
  return kind === 'spend' ? (amount / 1_000_000).toFixed(6).replace(/(\.\d\d)(\d*?)0+$/, '$1$2') : String(amount)
}

export function showGuard(row: GuardRow): Static<typeof Guard> {
  return {
    id: showId('grd', row.id),
    object: 'guard',
    kind: row.kind,
    key: row.key || null,
    action: row.action,
    limit: showAmount(row.kind, row.limit),
    since: row.since.toISOString(),
    until: row.endsAt.toISOString(),
    count: row.refused,
    released_at: showTime(row.releasedAt),
    released_by: row.releasedBy,
    released_until: showTime(row.releasedUntil),
    raised_by: showAmount(row.kind, row.raisedBy),
    reason: row.reason,
  }
}

// No window is longer than the day on which clocks are put back.
const windowMaxMs = 26 * 3_600_000

/** Records stops and their events, one row each until it is released, and writes its id into the refusals. By guards_open, in its order. */
export async function recordStops(
  tx: Tx,
  context: Needs<'outbox' | 'subscriptions'>,
  stops: readonly StopCount[],
  at: Date,
): Promise<Posting[]> {
  if (stops.length === 0) return []
  const ids = stops.map(() => newId())
  const { rows } = await tx.query<GuardRow>({
    name: 'record-stops',
    text: `
      insert into guards as g (account_id, id, kind, key, starts_at, ends_at, action, limit_at, refused, since)
      select account_id, id, kind, key, starts_at, ends_at, action, limit_at, refused, $10
      from unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::timestamptz[], $6::timestamptz[], $7::text[], $8::bigint[], $9::bigint[])
        as s (account_id, id, kind, key, starts_at, ends_at, action, limit_at, refused)
      order by account_id, kind, key, starts_at
      on conflict (account_id, kind, key, starts_at) where released_at is null do update
      set refused = g.refused + excluded.refused, limit_at = excluded.limit_at, action = excluded.action
      returning ${columnsOfGuard('g')}`,
    values: [
      ...columns([
        stops.map(({ window }) => window.accountId),
        ids,
        stops.map(({ window }) => window.kind),
        stops.map(({ window }) => window.key),
        stops.map(({ window }) => window.startsAt),
        stops.map(({ window }) => window.endsAt),
        stops.map(({ window }) => window.action),
        ...fieldsOf(stops, 'limit', 'refused'),
      ]),
      at,
    ],
  })
  const byName = new Map(rows.map((row) => [nameOf(row), row]))
  const events: NewEvent[] = []
  stops.forEach(({ window, told }, i) => {
    const row = byName.get(nameOf(window))
    if (!row) return
    for (const one of told) one.guardId = row.id
    if (row.id === ids[i]) events.push(...eventsOf(context, row))
  })
  return recordEvents(tx, events, context.outbox)
}

function eventsOf({ subscriptions }: Needs<'outbox' | 'subscriptions'>, row: GuardRow): NewEvent[] {
  const { accountId, kind } = row
  const types: EventType[] = ['guard.tripped']
  if (kind === 'spend' || kind === 'daily_segments') types.push('spend.limit_reached')
  return types.flatMap((type) =>
    subscriptions.wants(accountId, type) ? [{ accountId, type, data: { guard: showGuard(row) } }] : [],
  )
}

/** Stops in force of an account, in the order that `buildPage` needs; by primary key, of the last day only. */
export const listStops = (db: Db, accountId: string, ...place: PagePlace): Promise<GuardRow[]> => {
  const found = (value: Value): string[] => [
    't.released_at is null',
    't.ends_at > now()',
    `t.id > ${value(firstIdAt(nowMs() - windowMaxMs))}`,
  ]
  return listRows(db, { table: 'guards', columns: columnsOfGuard('t'), accountId, found }, ...place)
}

/** By primary key. */
export async function findStop(db: Queryable, accountId: string, id: string): Promise<GuardRow | null> {
  const { rows } = await db.query<GuardRow>(
    `select ${columnsOfGuard('g')} from guards g where g.account_id = $1 and g.id = $2`,
    [accountId, id],
  )
  return rows[0] ?? null
}

/**
 * Locks the window of a stop, as accepts do before they record one: a concurrent accept then belongs to this stop, and does not start another after
 * its release. Call before locking the stop. By primary keys.
 */
async function lockWindowOf(tx: Tx, accountId: string, id: string): Promise<void> {
  await tx.query(
    `select
     from guards g
     join guard_counters c
       on c.account_id = g.account_id and c.kind = g.kind and c.key = g.key and c.starts_at = g.starts_at
     where g.account_id = $1 and g.id = $2
     for update of c`,
    [accountId, id],
  )
}

export interface Release {
  by: string
  reason: string | null
  until: Date | null
  raisedBy: number | null
}

/** Releases stops in force of an account: one, or all of some kinds. Returns them and the posts that are due. */
export async function releaseStops(
  tx: Tx,
  { outbox, subscriptions }: Needs<'outbox' | 'subscriptions'>,
  accountId: string,
  which: { id: string } | { kinds: readonly GuardKind[] },
  { by, reason, until, raisedBy }: Release,
): Promise<{ released: GuardRow[]; postings: Posting[] }> {
  if ('id' in which) await lockWindowOf(tx, accountId, which.id)
  const { rows: released } = await tx.query<GuardRow>(
    `update guards g
     set released_at = now(), released_by = $2, reason = $3, released_until = $4, raised_by = $5
     where g.account_id = $1
       and g.released_at is null
       and g.ends_at > now()
       and ${'id' in which ? 'g.id = $6' : 'g.kind = any ($6)'}
     returning ${columnsOfGuard('g')}`,
    [accountId, by, reason, until, raisedBy, 'id' in which ? which.id : which.kinds],
  )
  const events = subscriptions.wants(accountId, 'guard.released')
    ? released.map((row): NewEvent => ({ accountId, type: 'guard.released', data: { guard: showGuard(row) } }))
    : []
  return { released, postings: await recordEvents(tx, events, outbox) }
}

/** Deletes windows that have ended and stops older than three months; by their indexes. Returns the count; call again while it is `limit`. */
export async function forgetWindows(db: Db, limit: number): Promise<number> {
  const { rows } = await db.query<{ count: number }>({
    name: 'forget-guard-windows',
    text: `
      with windows as (
        delete from guard_counters c
        using (select account_id, kind, key, starts_at from guard_counters where ends_at < now() - interval '1 day' order by ends_at limit $1) o
        where c.account_id = o.account_id and c.kind = o.kind and c.key = o.key and c.starts_at = o.starts_at
        returning 1
      ), texts as (
        delete from recent_sends r
        using (select account_id, hash from recent_sends where until < now() order by until limit $1) o
        where r.account_id = o.account_id and r.hash = o.hash and r.until < now()
        returning 1
      ), stops as (
        delete from guards g
        using (select account_id, id from guards where ends_at < now() - interval '90 days' order by ends_at limit $1) o
        where g.account_id = o.account_id and g.id = o.id
        returning 1
      )
      select greatest((select count(*) from windows), (select count(*) from texts), (select count(*) from stops))::int as count`,
    values: [limit],
  })
  return rows[0]?.count ?? 0
}

export interface StopCount {
  window: LimitWindow
  limit: number | null
  refused: number
  /** These get the id of the stop. */
  told: { guardId: string | null }[]
}
