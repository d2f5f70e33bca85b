/** Guards of an account, reached or not, with their use and the end of the window. */
import { Type, type Static } from 'typebox'
import { guardKinds, type GuardKind, type StoredGuards } from '../accounts/account-settings.ts'
import { columns } from '../ground/db/array.ts'
import { now } from '../ground/db/clock.ts'
import type { Queryable } from '../ground/db/db.ts'
import { dayAt, hourAt, type Span } from '../ground/base/day.ts'
import { Nullable, Timestamp } from '../ground/http/http.ts'
import { showId } from '../ground/base/ids.ts'
import { millionthsOf } from './guards.ts'
import { nameOf, prefixOf, type Relief } from './judge.ts'
import type { LimitWindow } from '../message/draft.ts'
import { showAmount } from './stops.ts'
import { keyColumns, readRelief, readUsed } from './windows.ts'

export const GuardLimit = Type.Object(
  {
    object: Type.Literal('guard_limit'),
    kind: Type.Enum([...guardKinds]),
    key: Nullable(
      Type.String({
        description: 'A country, the prefix of the given number, or a currency; null: the whole account.',
      }),
    ),
    action: Type.Enum(['block', 'alert'], { description: '`alert`: it only reports, and stops nothing.' }),
    description: Type.String({ description: 'A description of what it stops.' }),
    limit: Nullable(
      Type.String({ description: 'The limit, in segments, messages or money; null: nothing is counted.' }),
    ),
    raised_by: Nullable(Type.String({ description: 'By how much it is raised until `resets_at`; null: not raised.' })),
    used: Nullable(
      Type.String({
        description:
          'Used so far; null: nothing is counted, or each prefix is counted separately and no number was given.',
      }),
    ),
    resets_at: Nullable(Timestamp('When its day or hour ends; null: it has none.')),
    released_until: Nullable(Timestamp('It stops nothing until then; null: it was not released.')),
    stop: Nullable(Type.String({ description: 'Id of the current stop, as in `GET /v1/guards`; null: none.' })),
  },
  { $id: 'GuardLimit', description: 'A guard that is on.' },
)
export type GuardLimit = Static<typeof GuardLimit>

interface Standing {
  window: LimitWindow
  description: string
  /** Its use is that of a key that the request did not name. */
  isOpen?: true
}

/**
 * The guards of an account; with `number`, also the use of its prefix. Reads a few rows of each table, by guard_counters_pkey, guards_window and
 * guards_open. For a day without a message yet, uses the counters.
 */
export async function readLimits(db: Queryable, accountId: string, number: string | null): Promise<GuardLimit[]> {
  const { timezone, guards } = await findGuards(db, accountId)
  const standing = standingOf(accountId, guards, timezone, number)
  const windows = standing.flatMap(({ window, isOpen }) => (window.limit === null || isOpen ? [] : [window]))
  const days = windows.filter(({ kind }) => kind === 'daily_segments' || kind === 'spend')
  const used = await readHours(db, windows)
  for (const day of days) used.set(nameOf(day), await readUsed(db, day))
  const [relief, stops] = [await readRelief(db, windows), await readStops(db, windows)]
  return [
    ...standing.map(({ window, description, isOpen }) => {
      const name = nameOf(window)
      const known = isOpen ? null : (used.get(name) ?? 0)
      return show(window, description, known, relief.get(name) ?? null, stops.get(name) ?? null)
    }),
    ...uncounted(guards),
  ]
}

function standingOf(accountId: string, guards: StoredGuards, timezone: string, number: string | null): Standing[] {
  const at = now()
  const [day, hour] = [dayAt(timezone, at), hourAt(at)]
  const { daily_segments: segments, spend, country_limits: countries = [], per_prefix_per_hour: perPrefix } = guards
  const window = (
    kind: GuardKind,
    key: string,
    span: Span,
    limit: number,
    action: LimitWindow['action'] = 'block',
  ) => ({
    ...span,
    accountId,
    kind,
    key,
    action,
    limit,
  })
  const inDay = `a day of ${timezone}`
  return [
    ...(segments === undefined
      ? []
      : [{ window: window('daily_segments', '', day, segments), description: `Segments in ${inDay}.` }]),
    ...(spend
      ? [
          {
            window: window('spend', spend.currency, day, millionthsOf(spend.daily_limit)),
            description: `Estimated cost in ${spend.currency} in ${inDay}.`,
          },
        ]
      : []),
    ...countries.map(({ country, per_hour: limit, action }) => ({
      window: window('country_limit', country, hour, limit, action),
      description: `Messages to ${country} in a clock hour.`,
    })),
    ...(perPrefix === undefined
      ? []
      : [
          {
            window: window('velocity', number === null ? '' : prefixOf(number), hour, perPrefix),
            description: 'Messages in a clock hour to numbers that differ only in the last four digits.',
            ...(number === null && { isOpen: true as const }),
          },
        ]),
  ]
}

/** Guards that stop messages without counting. */
function uncounted({ allowed_countries: countries, dedupe_window: seconds = 0 }: StoredGuards): GuardLimit[] {
  const show = (kind: GuardKind, description: string): GuardLimit => ({
    object: 'guard_limit',
    kind,
    key: null,
    action: 'block',
    description,
    limit: null,
    raised_by: null,
    used: null,
    resets_at: null,
    released_until: null,
    stop: null,
  })
  return [
    ...(countries ? [show('allowed_countries', `Messages to other countries than ${countries.join(', ')}.`)] : []),
    ...(seconds > 0
      ? [show('duplicate', `The same text from the same sender to the same number within ${seconds} seconds.`)]
      : []),
  ]
}

function show(
  { kind, key, action, limit, endsAt }: LimitWindow,
  description: string,
  used: number | null,
  relief: Relief | null,
  stopId: string | null,
): GuardLimit {
  const isLifted = relief?.until && relief.until > now()
  return {
    object: 'guard_limit',
    kind,
    key: key || null,
    action,
    description,
    limit: showAmount(kind, limit),
    raised_by: relief && relief.raisedBy > 0 ? showAmount(kind, relief.raisedBy) : null,
    used: showAmount(kind, used),
    resets_at: endsAt.toISOString(),
    released_until: isLifted ? (relief.until?.toISOString() ?? null) : null,
    stop: stopId && showId('grd', stopId),
  }
}

/** Use of windows that have begun, by name; by primary key. */
async function readHours(db: Queryable, windows: readonly LimitWindow[]): Promise<Map<string, number>> {
  const { rows } = await db.query<Pick<LimitWindow, 'accountId' | 'kind' | 'key' | 'startsAt'> & { used: number }>({
    name: 'read-guard-windows',
    text: `
      select c.account_id as "accountId", c.kind, c.key, c.starts_at as "startsAt", c.used
      from ${keys}
      join guard_counters c using (account_id, kind, key, starts_at)`,
    values: columns(keyColumns(windows)),
  })
  return new Map(rows.map((row) => [nameOf(row), row.used]))
}

/** Stops in force, by name of window; by guards_open. */
async function readStops(db: Queryable, windows: readonly LimitWindow[]): Promise<Map<string, string>> {
  const { rows } = await db.query<Pick<LimitWindow, 'accountId' | 'kind' | 'key' | 'startsAt'> & { id: string }>({
    name: 'read-guard-stops',
    text: `
      select g.account_id as "accountId", g.kind, g.key, g.starts_at as "startsAt", g.id
      from ${keys}
      join guards g using (account_id, kind, key, starts_at)
      where g.released_at is null`,
    values: columns(keyColumns(windows)),
  })
  return new Map(rows.map((row) => [nameOf(row), row.id]))
}

const keys = `unnest($1::uuid[], $2::text[], $3::text[], $4::timestamptz[]) as w (account_id, kind, key, starts_at)`

/** The stored guards and the time zone; by the primary key. */
async function findGuards(db: Queryable, accountId: string): Promise<{ timezone: string; guards: StoredGuards }> {
  const { rows } = await db.query<{ timezone: string; guards: StoredGuards }>({
    name: 'find-guards',
    text: `
      select coalesce(settings ->> 'timezone', 'UTC') as timezone, coalesce(settings -> 'guards', '{}') as guards
      from accounts
      where id = $1`,
    values: [accountId],
  })
  return rows[0] ?? { timezone: 'UTC', guards: {} }
}
