/** SQL of guards in the transaction that accepts: windows of limits, their releases, and recent texts. */
import { columns, fieldsOf } from '../ground/db/array.ts'
import type { Queryable, Tx } from '../ground/db/db.ts'
import { firstIdAt } from '../ground/base/ids.ts'
import { millionths } from '../ground/base/money.ts'
import type { Planned, LimitWindow } from '../message/draft.ts'
import { counts } from '../usage/counts-sql.ts'
import { bucketOf, costIn, countedColumns } from '../usage/delta-sql.ts'
import { nameOf, type Ask, type Relief } from './judge.ts'

/** The windows of limits that messages use, without duplicates. */
export const windowsOf = (asks: readonly (Ask | null)[]): LimitWindow[] => [
  ...new Map(asks.flatMap((ask) => ask?.needs.map(({ window }) => [nameOf(window), window] as const) ?? [])).values(),
]

interface WindowRow {
  accountId: string
  kind: LimitWindow['kind']
  key: string
  startsAt: Date
}

export interface Amount {
  window: LimitWindow
  amount: number
}

// A cap set during a day applies to the whole day: its window begins with the day's counts.
const usedSinceDayBegan = `(
            select case w.kind
                when 'spend' then coalesce(round(sum(t.cost) filter (where t.currency = w.key) * ${millionths}), 0)
                else coalesce(sum(t.messages * t.segments) filter (where t.bucket <> 'received'), 0)
              end::bigint
            from ${counts('account_id = w.account_id and hour >= w.starts_at and not is_test')} t)`

/**
 * Uses these amounts up and locks their windows, creating missing ones, by primary key and in its order, so that two accepts never deadlock. Returns
 * the use of each before, by name. This is the only write of a batch that is accepted whole; `moveWindows` gives back what is not accepted.
 */
export async function useWindows(tx: Tx, amounts: readonly Amount[]): Promise<Map<string, number>> {
  if (amounts.length === 0) return new Map()
  const { rows } = await tx.query<WindowRow & { before: number; isNew: boolean }>({
    name: 'use-guard-windows',
    text: `
      with w as materialized (
        select *
        from unnest($1::uuid[], $2::text[], $3::text[], $4::timestamptz[], $5::timestamptz[], $6::bigint[])
          as w (account_id, kind, key, starts_at, ends_at, amount)
      ), c as (
        insert into guard_counters as c (account_id, kind, key, starts_at, ends_at, used)
        select account_id, kind, key, starts_at, ends_at,
          amount + case when kind in ('daily_segments', 'spend') and not exists (
            select from guard_counters g
            where g.account_id = w.account_id and g.kind = w.kind and g.key = w.key and g.starts_at = w.starts_at
          ) then ${usedSinceDayBegan} else 0 end
        from w
        order by account_id, kind, key, starts_at
        on conflict (account_id, kind, key, starts_at) do update
        set used = c.used + (
          select amount from w
          where w.account_id = excluded.account_id and w.kind = excluded.kind and w.key = excluded.key and w.starts_at = excluded.starts_at)
        returning account_id, kind, key, starts_at, used, xmax = 0 as is_new
      )
      select account_id as "accountId", kind, key, starts_at as "startsAt", c.used - w.amount as before,
        c.is_new as "isNew"
      from c
      join w using (account_id, kind, key, starts_at)`,
    values: columns([
      ...keyColumns(amounts.map(({ window }) => window)),
      amounts.map(({ window }) => window.endsAt),
      amounts.map(({ amount }) => amount),
    ]),
  })
  const before = new Map<string, number>()
  for (const row of rows)
    before.set(nameOf(row), row.before + (row.isNew && beginsInHour(row) ? await useFirstPart(tx, row) : 0))
  return before
}

/** False for days that begin between two hours of UTC: counts are by hour. */
const beginsInHour = ({ kind, startsAt }: WindowRow): boolean =>
  (kind === 'daily_segments' || kind === 'spend') && startsAt.getTime() % hourMs !== 0

const hourMs = 3_600_000
// The time of a message's id may be later than its time by this much.
const idLateMs = 60_000

/** Adds a day's use before its first whole hour, and returns it; once a day. */
async function useFirstPart(tx: Tx, day: WindowRow): Promise<number> {
  const amount = await readFirstPart(tx, day)
  await moveWindows(tx, [{ window: day, amount }])
  return amount
}

/** A day's use before its first whole hour. Reads that time's messages, by primary key. */
async function readFirstPart(db: Queryable, { accountId, kind, key, startsAt }: WindowRow): Promise<number> {
  const until = new Date(Math.ceil(startsAt.getTime() / hourMs) * hourMs)
  const amount = kind === 'spend' ? `round(${costIn('bucket')} * ${millionths})` : 'coalesce(sum(segments), 0)'
  const { rows } = await db.query<{ amount: number }>(
    `with part as (
       select ${countedColumns('m')}, ${bucketOf('m.status')} as bucket
       from messages m
       where m.account_id = $1
         and m.id between $4 and $5
         and m.created_at >= $3
         and m.created_at < $6
         and not m.is_test
     )
     select ${amount}::bigint as amount
     from part
     where bucket <> 'received'
       and ($2 = '' or "costCurrency" = $2)`,
    [accountId, key, startsAt, firstIdAt(startsAt.getTime()), firstIdAt(until.getTime() + idLateMs), until],
  )
  return rows[0]?.amount ?? 0
}

/** A day's use: from its window, or from the counts if it has none. By primary keys; locks nothing. */
export async function readUsed(db: Queryable, day: WindowRow): Promise<number> {
  const { rows } = await db.query<{ used: number; isNew: boolean }>({
    name: 'read-day-used',
    text: `
      select coalesce(c.used, ${usedSinceDayBegan}) as used, c.used is null as "isNew"
      from (select $1::uuid as account_id, $2::text as kind, $3::text as key, $4::timestamptz as starts_at) w
      left join guard_counters c using (account_id, kind, key, starts_at)`,
    values: [day.accountId, day.kind, day.key, day.startsAt],
  })
  const { used = 0, isNew = true } = rows[0] ?? {}
  return used + (isNew && beginsInHour(day) ? await readFirstPart(db, day) : 0)
}

/** Deletes the use of a day; the next accept starts it from the counts. By primary key. */
export async function forgetUsed(tx: Tx, { accountId, kind, key, startsAt }: WindowRow): Promise<void> {
  await tx.query(`delete from guard_counters where account_id = $1 and kind = $2 and key = $3 and starts_at = $4`, [
    accountId,
    kind,
    key,
    startsAt,
  ])
}

export async function moveWindows(tx: Tx, amounts: readonly { window: WindowRow; amount: number }[]): Promise<void> {
  if (amounts.length === 0) return
  await tx.query({
    name: 'move-guard-windows',
    text: `
      update guard_counters c
      set used = c.used + w.amount
      from unnest($1::uuid[], $2::text[], $3::text[], $4::timestamptz[], $5::bigint[]) as w (account_id, kind, key, starts_at, amount)
      where c.account_id = w.account_id
        and c.kind = w.kind
        and c.key = w.key
        and c.starts_at = w.starts_at`,
    values: columns([...keyColumns(amounts.map(({ window }) => window)), amounts.map(({ amount }) => amount)]),
  })
}

/** Releases of windows, by guards_window. */
export async function readRelief(tx: Queryable, windows: readonly LimitWindow[]): Promise<Map<string, Relief>> {
  const { rows } = await tx.query<WindowRow & Relief>({
    name: 'read-guard-relief',
    text: `
      select g.account_id as "accountId", g.kind, g.key, g.starts_at as "startsAt",
        coalesce(sum(g.raised_by), 0)::bigint as "raisedBy", max(g.released_until) as until
      from (select distinct * from unnest($1::uuid[], $2::text[], $3::text[], $4::timestamptz[])) as w (account_id, kind, key, starts_at)
      join guards g
        on g.account_id = w.account_id
        and g.kind = w.kind
        and g.key = w.key
        and g.starts_at = w.starts_at
        and g.released_at is not null
      group by g.account_id, g.kind, g.key, g.starts_at`,
    values: columns(keyColumns(windows)),
  })
  return new Map(rows.map(({ raisedBy, until, ...row }) => [nameOf(row), { raisedBy, until }]))
}

/** Windows as columns of a statement: account_id, kind, key, starts_at. */
export const keyColumns = (windows: readonly WindowRow[]): (string | Date)[][] => [
  ...fieldsOf(windows, 'accountId', 'kind', 'key', 'startsAt'),
]

/**
 * Records the texts of these messages; returns the recent message with the same text. Locks by the primary key, in its order. A text that is twice in
 * the list is recorded for the first.
 */
export async function noteTexts(
  tx: Tx,
  planned: readonly Planned[],
  asks: readonly (Ask | null)[],
  at: Date,
): Promise<Map<number, string>> {
  const first = new Map<string, number>()
  asks.forEach((ask, i) => {
    const name = ask?.repeat && `${planned[i]?.draft.accountId} ${ask.repeat.hash}`
    if (name && !first.has(name)) first.set(name, i)
  })
  if (first.size === 0) return new Map()
  const places = [...first.values()]
  const { rows } = await tx.query<{ accountId: string; hash: Buffer; messageId: string }>({
    name: 'note-recent-sends',
    text: `
      insert into recent_sends as r (account_id, hash, message_id, until)
      select account_id, hash, message_id, until
      from unnest($1::uuid[], $2::bytea[], $3::uuid[], $4::timestamptz[]) as s (account_id, hash, message_id, until)
      order by account_id, hash
      on conflict (account_id, hash) do update
      set message_id = case when r.until > $5 then r.message_id else excluded.message_id end,
        until = case when r.until > $5 then r.until else excluded.until end
      returning account_id as "accountId", hash, message_id as "messageId"`,
    values: [
      ...columns([
        places.map((i) => planned[i]?.draft.accountId ?? ''),
        places.map((i) => Buffer.from(asks[i]?.repeat?.hash ?? '', 'hex')),
        places.map((i) => planned[i]?.id ?? ''),
        places.map((i) => new Date(at.getTime() + (asks[i]?.repeat?.seconds ?? 0) * 1000)),
      ]),
      at,
    ],
  })
  const earlier = new Map<number, string>()
  const ids = new Map(rows.map(({ accountId, hash, messageId }) => [`${accountId} ${hash.toString('hex')}`, messageId]))
  asks.forEach((ask, i) => {
    const name = ask?.repeat && `${planned[i]?.draft.accountId} ${ask.repeat.hash}`
    const id = name ? ids.get(name) : undefined
    if (name && id !== undefined && id !== planned[first.get(name) ?? i]?.id) earlier.set(i, id)
  })
  return earlier
}

/** The recent message with the same text, by place; by primary key. */
export async function findTexts(
  db: Queryable,
  planned: readonly Planned[],
  asks: readonly (Ask | null)[],
  at: Date,
): Promise<Map<number, string>> {
  const places = asks.flatMap((ask, i) => (ask?.repeat ? [i] : []))
  if (places.length === 0) return new Map()
  const { rows } = await db.query<{ n: number; messageId: string }>({
    name: 'find-recent-sends',
    text: `
      select s.n::int as n, r.message_id as "messageId"
      from unnest($1::uuid[], $2::bytea[]) with ordinality as s (account_id, hash, n)
      join recent_sends r on r.account_id = s.account_id and r.hash = s.hash
      where r.until > $3`,
    values: [
      ...columns([
        places.map((i) => planned[i]?.draft.accountId ?? ''),
        places.map((i) => Buffer.from(asks[i]?.repeat?.hash ?? '', 'hex')),
      ]),
      at,
    ],
  })
  return new Map(rows.map(({ n, messageId }) => [places[n - 1] ?? -1, messageId]))
}

/** Deletes the texts recorded for messages that were not accepted; by primary key. */
export async function forgetTexts(
  tx: Tx,
  unsent: readonly { accountId: string; hash: string; id: string }[],
): Promise<void> {
  await tx.query({
    name: 'forget-recent-sends',
    text: `
      delete from recent_sends r
      using unnest($1::uuid[], $2::bytea[], $3::uuid[]) as s (account_id, hash, message_id)
      where r.account_id = s.account_id
        and r.hash = s.hash
        and r.message_id = s.message_id`,
    values: columns([
      unsent.map(({ accountId }) => accountId),
      unsent.map(({ hash }) => Buffer.from(hash, 'hex')),
      unsent.map(({ id }) => id),
    ]),
  })
}
