/** Reading and changing what an account says of its guards, and reading what the day has used up. */
import type { Queryable, Tx } from '../db/db.ts'
import { dayAt } from '../day.ts'
import { invalid } from '../errors.ts'
import {
  checkGuards,
  mergeGuards,
  showGuards,
  type GuardChange,
  type GuardKind,
  type StoredGuards,
} from './guard-settings.ts'

/** What other slices do for guards. */
export interface GuardSources {
  /** Whether it is the ISO 3166-1 alpha-2 code of a country that has a numbering plan. */
  isCountry: (text: string) => boolean
  /** Ends the stops of guards that are others now, and tells of it. */
  endStops: (tx: Tx, accountId: string, kinds: readonly GuardKind[], by: string) => Promise<void>
}

/** Settings of guards as they are shown, with what the day has used up. By primary keys. */
export async function readGuardSettings(db: Queryable, accountId: string, now: Date = new Date()) {
  const { timezone, guards } = await findGuards(db, accountId)
  const { startsAt, endsAt } = dayAt(timezone, now)
  const { rows } = await db.query<{ kind: string; used: number }>({
    name: 'read-day-used',
    text: `
      select kind, used
      from guard_counters
      where account_id = $1
        and kind in ('daily_segments', 'spend')
        and key in ('', $2)
        and starts_at = $3`,
    values: [accountId, guards.spend?.currency ?? '', startsAt],
  })
  const usedOf = (name: string): number => rows.find(({ kind }) => kind === name)?.used ?? 0
  const { spend, daily_segments = null } = guards
  return {
    timezone,
    ...showGuards(guards),
    limits: { daily_segments, segments_today: daily_segments === null ? null : usedOf('daily_segments') },
    spend: {
      daily_limit: spend?.daily_limit ?? null,
      spent_today: spend ? (usedOf('spend') / 1_000_000).toFixed(6) : null,
      currency: spend?.currency ?? null,
      resets_at: spend || daily_segments !== null ? endsAt.toISOString() : null,
    },
  }
}

/**
 * Changes what an account says of its guards; its row is locked by the caller. Every process knows it within two seconds.
 * @throws ApiError `validation_failed`.
 */
export async function changeGuards(
  tx: Tx,
  accountId: string,
  by: string,
  sources: GuardSources,
  change: GuardChange,
): Promise<void> {
  const stored = await findGuards(tx, accountId)
  const errors = checkGuards(change, stored.guards, sources.isCountry)
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
  // Days begin at another time then.
  if (change.timezone !== undefined && change.timezone !== stored.timezone) changed.push('daily_segments', 'spend')
  if (changed.length > 0) await sources.endStops(tx, accountId, changed, by)
}

/** What is stored, by the primary key. */
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
