/** Reads and changes the guards of an account, and reads the day's use. */
import { now as readNow } from '../ground/db/clock.ts'
import type { Queryable, Tx } from '../ground/db/db.ts'
import { dayAt } from '../ground/base/day.ts'
import { invalid } from '../ground/base/errors.ts'
import {
  checkGuards,
  mergeGuards,
  showGuards,
  type GuardChange,
  type GuardKind,
  type StoredGuards,
} from './guard-settings.ts'

export interface GuardDay {
  accountId: string
  kind: 'daily_segments' | 'spend'
  /** The currency; empty for segments. */
  key: string
  startsAt: Date
}

/** Dependencies on other rooms. */
export interface GuardSources {
  /** Ends the stops of guards that changed, and posts the events. */
  endStops: (tx: Tx, accountId: string, kinds: readonly GuardKind[], by: string) => Promise<void>
  /** The day's use in segments, or millionths of the currency. */
  readUsed: (db: Queryable, day: GuardDay) => Promise<number>
  /** Makes the day be counted again. */
  forgetUsed: (tx: Tx, day: GuardDay) => Promise<void>
}

/** By primary key. */
export async function readGuardSettings(
  db: Queryable,
  accountId: string,
  { readUsed }: Pick<GuardSources, 'readUsed'>,
) {
  const { timezone, guards } = await findGuards(db, accountId)
  const now = readNow()
  const used = new Map<GuardKind, number>()
  for (const day of daysOf(accountId, timezone, guards, now)) used.set(day.kind, await readUsed(db, day))
  const [segments, spent] = [used.get('daily_segments') ?? null, used.get('spend') ?? null]
  return {
    timezone,
    ...showGuards(guards),
    limits: { daily_segments: guards.daily_segments ?? null, segments_today: segments },
    spend: {
      daily_limit: guards.spend?.daily_limit ?? null,
      spent_today: spent === null ? null : (spent / 1_000_000).toFixed(6),
      currency: guards.spend?.currency ?? null,
      resets_at: used.size > 0 ? dayAt(timezone, now).endsAt.toISOString() : null,
    },
  }
}

function daysOf(accountId: string, timezone: string, guards: StoredGuards, at: Date): GuardDay[] {
  const { startsAt } = dayAt(timezone, at)
  const days: GuardDay[] = []
  if (guards.daily_segments !== undefined) days.push({ accountId, kind: 'daily_segments', key: '', startsAt })
  if (guards.spend) days.push({ accountId, kind: 'spend', key: guards.spend.currency, startsAt })
  return days
}

/** The caller holds the lock on the account. Other processes follow within two seconds. @throws ApiError `validation_failed`. */
export async function changeGuards(
  tx: Tx,
  accountId: string,
  by: string,
  sources: GuardSources,
  change: GuardChange,
): Promise<void> {
  const stored = await findGuards(tx, accountId)
  const errors = checkGuards(change, stored.guards)
  if (errors.length > 0) throw invalid(errors)
  const { guards, changed } = mergeGuards(stored.guards, change)
  await tx.query({
    name: 'change-guards',
    text: `
      update accounts
      set settings = case when $2::jsonb = '{}' then settings - 'guards' else settings || jsonb_build_object('guards', $2::jsonb) end
        || case when $3::text is null then '{}' else jsonb_build_object('timezone', $3::text) end
      where id = $1`,
    values: [accountId, JSON.stringify(guards), change.timezone ?? null],
  })
  // A new time zone moves the start of the day.
  if (change.timezone !== undefined && change.timezone !== stored.timezone) changed.push('daily_segments', 'spend')
  if (changed.length > 0) await sources.endStops(tx, accountId, changed, by)
  const now = readNow()
  const before = daysOf(accountId, stored.timezone, stored.guards, now)
  const isKnown = (day: GuardDay): boolean =>
    before.some(
      (one) => one.kind === day.kind && one.key === day.key && one.startsAt.getTime() === day.startsAt.getTime(),
    )
  // A count that stopped with an earlier limit lacks what was used since.
  for (const day of daysOf(accountId, change.timezone ?? stored.timezone, guards, now))
    if (!isKnown(day)) await sources.forgetUsed(tx, day)
}

/** The stored guards and the time zone; by the primary key. */
export async function findGuards(
  db: Queryable,
  accountId: string,
): Promise<{ timezone: string; guards: StoredGuards }> {
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
