/** The guards of all accounts, kept in memory so that accounts without guards pay one look-up. */
import { replaceCached } from '../ground/audit/account-tables.ts'
import type { StoredGuards } from '../accounts/account-settings.ts'
import type { Db } from '../ground/db/db.ts'
import { isTimezone } from '../ground/base/timezone.ts'

export interface GuardRules {
  /** Time zone of the days of limits. */
  timezone: string
  /** Null: all. */
  countries: ReadonlySet<string> | null
  /** Premium numbers are allowed. */
  allowsPremium: boolean
  /** Messages an hour, by country. */
  countryLimits: ReadonlyMap<string, { perHour: number; action: 'block' | 'alert' }>
  dailySegments: number | null
  /** Millionths of the currency's unit a day. */
  spend: { limit: number; currency: string } | null
  perPrefixPerHour: number | null
  /** 0: no check for repetitions. */
  dedupeSeconds: number
}

export class Guards {
  readonly #db: Db
  readonly #accounts = new Map<string, GuardRules>()

  constructor(db: Db) {
    this.#db = db
  }

  /** By the partial index accounts_guarded; with ids, by the primary key. */
  async refresh(accountIds?: readonly string[]): Promise<void> {
    const { rows } = await this.#db.query<{ accountId: string; timezone: string | null; guards: StoredGuards }>({
      name: accountIds ? 'read-guards-of' : 'read-guards',
      text: `
        select id as "accountId", settings ->> 'timezone' as timezone, settings -> 'guards' as guards
        from accounts
        where settings ? 'guards'${accountIds ? ' and id = any ($1::uuid[])' : ''}`,
      values: accountIds ? [accountIds] : [],
    })
    const read = rows.map(({ accountId, timezone, guards }) => [accountId, rulesOf(guards, timezone)] as const)
    replaceCached(this.#accounts, accountIds, read)
  }

  /** Undefined if the account has no guards. */
  of(accountId: string): GuardRules | undefined {
    return this.#accounts.get(accountId)
  }
}

export const millionthsOf = (amount: string): number => Math.round(Number(amount) * 1_000_000)

function rulesOf(stored: StoredGuards, timezone: string | null): GuardRules {
  const { spend, country_limits: limits = [] } = stored
  return {
    timezone: timezone !== null && isTimezone(timezone) ? timezone : 'UTC',
    countries: stored.allowed_countries ? new Set(stored.allowed_countries) : null,
    allowsPremium: stored.allow_premium_numbers === true,
    countryLimits: new Map(limits.map(({ country, per_hour, action }) => [country, { perHour: per_hour, action }])),
    dailySegments: stored.daily_segments ?? null,
    spend: spend ? { limit: millionthsOf(spend.daily_limit), currency: spend.currency } : null,
    perPrefixPerHour: stored.per_prefix_per_hour ?? null,
    dedupeSeconds: stored.dedupe_window ?? 0,
  }
}
