/**
 * Quiet hours: holds messages while it is night for their recipient. Uses the zone of the contact, else all zones of the number, else the
 * account's fallback. Settings are cached in memory, so that accounts without any pay nothing.
 */
import { replaceCached } from '../ground/audit/account-tables.ts'
import type { QuietHoursChange } from '../accounts/account-settings.ts'
import { mergeQuietHours } from '../accounts/quiet-hours.ts'
import { columns, fieldsOf } from '../ground/db/array.ts'
import { now } from '../ground/db/clock.ts'
import type { Db } from '../ground/db/db.ts'
import { isTimezone } from '../ground/base/timezone.ts'
import type { MessageType, Warning } from '../message/message.ts'
import { minutesOf, quietUntil, type QuietWindow } from './window.ts'
import { zonesOfNumber } from './zones.ts'

export interface QuietQuestion {
  accountId: string
  /** The campaign's id or key; null: none. */
  campaignId: string | null
  campaignKey?: string | null
  type: MessageType
  theirNumber: string
  /** The contact's; null: unknown. */
  timezone: string | null
}

/** A message at accept: its campaign decides its type, and its contact is looked up. */
export type QuietNewcomer = Omit<QuietQuestion, 'timezone' | 'type'> & { sendAt: Date | null }

interface Rule {
  window: QuietWindow
  types: readonly MessageType[]
  fallback: readonly string[]
}

interface AccountRules {
  /** Null: only some campaigns of the account have quiet hours. */
  own: Rule | null
  /** By id and by key. Null: the campaign has none. */
  campaigns: Map<string, Rule | null>
  /** Types that may be held. */
  types: Set<MessageType>
}

const minuteMs = 60_000
// There are some 600; the rest are other spellings.
const zonesMax = 2000

/** The quiet hours of all accounts (`account-tables.ts`). One per process. */
export class QuietHours {
  readonly #db: Db
  readonly #accounts = new Map<string, AccountRules>()
  /** Results for the current minute, by window and zones: most recipients share theirs. */
  readonly #answers = new Map<string, Map<readonly string[], Date | null>>()
  #answersOf = NaN
  readonly #zones = new Map<string, readonly string[]>()

  constructor(db: Db) {
    this.#db = db
  }

  async refresh(accountIds?: readonly string[]): Promise<void> {
    const accounts = new Map<string, AccountRules>()
    for (const { accountId, campaignId, key, ofAccount, ofCampaign } of await readQuietHours(this.#db, accountIds)) {
      let rules = accounts.get(accountId)
      if (!rules) accounts.set(accountId, (rules = { own: null, campaigns: new Map(), types: new Set() }))
      const rule = ruleOf(ofAccount, ofCampaign)
      if (campaignId === null) rules.own = rule
      else for (const name of key === null ? [campaignId] : [campaignId, key]) rules.campaigns.set(name, rule)
      for (const type of rule?.types ?? []) rules.types.add(type)
    }
    for (const [id, { types }] of accounts) if (types.size === 0) accounts.delete(id)
    replaceCached(this.#accounts, accountIds, accounts)
  }

  /** Whether messages of this account and type may be held. One look-up for accounts without quiet hours. */
  mayHold(accountId: string, type: MessageType): boolean {
    return this.#accounts.get(accountId)?.types.has(type) ?? false
  }

  /** When a message may be sent, from `at` on; null: at that time. */
  opensAt(message: QuietQuestion, at: Date): Date | null {
    const rule = this.#ruleOf(message)
    return rule && this.#quietUntil(at, rule.window, this.#zonesOf(message, rule))
  }

  /**
   * When each new message may be sent, from its time on; null: at its time. An empty array if none may be held. Reads the zones of relevant
   * contacts only.
   */
  async plan(
    messages: readonly QuietNewcomer[],
    typeOf: (i: number) => MessageType | undefined,
  ): Promise<readonly (Date | null)[]> {
    const types = this.#accounts.size === 0 ? [] : messages.map((_, i) => typeOf(i) ?? 'otp')
    const concerned = messages.filter(({ accountId }, i) => this.mayHold(accountId, types[i] ?? 'otp'))
    if (concerned.length === 0) return nothing
    const timezones = await readTimezones(
      this.#db,
      concerned.filter(({ campaignId, campaignKey }) => campaignId !== null || campaignKey != null),
    )
    const at = now()
    return messages.map((one, i) => {
      const { accountId, campaignId, campaignKey = null, theirNumber, sendAt } = one
      const [type, timezone] = [types[i] ?? 'otp', timezones.get(one) ?? null]
      return this.opensAt({ accountId, campaignId, campaignKey, type, theirNumber, timezone }, sendAt ?? at)
    })
  }

  #ruleOf({ accountId, campaignId, campaignKey, type }: QuietQuestion): Rule | null {
    const rules = this.#accounts.get(accountId)
    if (!rules?.types.has(type)) return null
    const ofCampaign = rules.campaigns.get(campaignId ?? campaignKey ?? '')
    const rule = ofCampaign === undefined ? rules.own : ofCampaign
    return rule?.types.includes(type) ? rule : null
  }

  #zonesOf({ timezone, theirNumber }: QuietQuestion, { fallback }: Rule): readonly string[] {
    if (timezone !== null && isTimezone(timezone)) return this.#listOf(timezone)
    const zones = zonesOfNumber(theirNumber)
    return zones.length > 0 ? zones : fallback
  }

  /** One array per zone. */
  #listOf(timezone: string): readonly string[] {
    let list = this.#zones.get(timezone)
    if (!list) {
      if (this.#zones.size >= zonesMax) this.#zones.clear()
      this.#zones.set(timezone, (list = [timezone]))
    }
    return list
  }

  #quietUntil(at: Date, window: QuietWindow, zones: readonly string[]): Date | null {
    const minute = Math.floor(at.getTime() / minuteMs)
    if (minute !== this.#answersOf) {
      this.#answers.clear()
      this.#answersOf = minute
    }
    const key = `${window.start} ${window.end}`
    let answers = this.#answers.get(key)
    if (!answers) this.#answers.set(key, (answers = new Map()))
    let answer = answers.get(zones)
    if (answer === undefined) answers.set(zones, (answer = quietUntil(at, window, zones)))
    return answer
  }
}

const nothing: readonly null[] = []

export const quietWarning = (until: Date): Warning => ({
  code: 'quiet_hours_hold',
  detail: `It is not sent before the recipient's quiet hours end, at ${until.toISOString()}, and expires if its validity ends earlier.`,
  until: until.toISOString(),
})

function ruleOf(ofAccount: QuietHoursChange | null, ofCampaign: QuietHoursChange | null): Rule | null {
  const { enabled, start, end, applies_to: types, fallback_timezone: fallback } = mergeQuietHours(ofAccount, ofCampaign)
  // The runtime that wrote the zone may have had newer data.
  return enabled && start !== end
    ? {
        window: { start: minutesOf(start), end: minutesOf(end) },
        types,
        fallback: [isTimezone(fallback) ? fallback : 'UTC'],
      }
    : null
}

interface Said {
  accountId: string
  campaignId: string | null
  key: string | null
  ofAccount: QuietHoursChange | null
  ofCampaign: QuietHoursChange | null
}

/** Settings of accounts and of open campaigns. Few rows: accounts are few, and campaigns by campaigns_quiet_hours. */
async function readQuietHours(db: Db, accountIds: readonly string[] | undefined): Promise<Said[]> {
  const isOf = (id: string): string => (accountIds ? `and ${id} = any ($1::uuid[])` : '')
  const { rows } = await db.query<Said>({
    name: accountIds ? 'read-quiet-hours-of' : 'read-quiet-hours',
    text: `
      select id as "accountId", null::uuid as "campaignId", null as key, quiet_hours as "ofAccount", null::jsonb as "ofCampaign"
      from accounts
      where quiet_hours is not null
        ${isOf('id')}
      union all
      select c.account_id, c.id, c.key, a.quiet_hours, c.quiet_hours
      from campaigns c
      join accounts a on a.id = c.account_id
      where c.quiet_hours is not null
        and c.status not in ('archived', 'canceled')
        ${isOf('c.account_id')}`,
    values: accountIds ? [accountIds] : [],
  })
  return rows
}

/** The zones of contacts, if set; by the keys of campaigns and contacts. */
async function readTimezones<T extends QuietNewcomer>(db: Db, messages: readonly T[]): Promise<Map<T, string>> {
  if (messages.length === 0) return new Map()
  const { rows } = await db.query<{ n: number; timezone: string }>({
    name: 'read-contact-timezones',
    text: `
      select k.n::int as n, ct.timezone
      from unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[]) with ordinality as k (account_id, campaign_id, campaign_key, number, n)
      join lateral (
        select id from campaigns where account_id = k.account_id and id = k.campaign_id
        union all
        select id from campaigns where account_id = k.account_id and key = k.campaign_key
        limit 1
      ) c on true
      join contacts ct
        on ct.account_id = k.account_id
        and ct.campaign_id = c.id
        and ct.phone_number = k.number
      where ct.timezone is not null`,
    values: columns([
      ...fieldsOf(messages, 'accountId', 'campaignId'),
      messages.map((one) => one.campaignKey ?? null),
      messages.map((one) => one.theirNumber),
    ]),
  })
  return new Map(
    rows.flatMap(({ n, timezone }) => {
      const message = messages[n - 1]
      return message ? [[message, timezone] as const] : []
    }),
  )
}
