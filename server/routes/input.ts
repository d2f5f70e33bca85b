/** Schema and checks of a route's body; reports all faults at once. */
import { Type, type Static } from 'typebox'
import type { Queryable } from '../ground/db/db.ts'
import { Nullable } from '../ground/http/http.ts'
import { parseId } from '../ground/base/ids.ts'
import { readSender } from '../ground/numbers/sender.ts'
import { messageTypes } from '../message/message.ts'
import { isCountry } from '../ground/numbers/number.ts'
import { findCampaignId } from '../message/store.ts'
import { MoneySchema, readAmount } from '../ground/base/money.ts'
import type { Faults } from '../ground/http/faults.ts'
import { carriersWithRates } from '../rates/store.ts'
import { orderMatch, type RouteInput } from './store.ts'
import type { RouteCarrier, RouteMatch } from './route.ts'

export const Match = Type.Object(
  {
    account: Type.Optional(Type.String({ maxLength: 255, description: 'Id of an account.' })),
    campaign: Type.Optional(Type.String({ maxLength: 255, description: 'Id or key of a campaign of `account`.' })),
    type: Type.Optional(Type.Enum([...messageTypes])),
    countries: Type.Optional(
      Type.Array(Type.String({ pattern: '^[A-Z]{2}$', examples: ['US'] }), {
        maxItems: 250,
        description: 'ISO 3166-1 alpha-2, of the recipient.',
      }),
    ),
    prefixes: Type.Optional(
      Type.Array(Type.String({ pattern: '^\\+?[1-9]\\d{0,14}$', examples: ['1212'] }), {
        maxItems: 1000,
        description: "First digits of the recipient's number, including the calling code.",
      }),
    ),
    senders: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 16 }), { maxItems: 100, description: 'Numbers or names.' }),
    ),
  },
  { additionalProperties: false, description: 'All fields must match; of a list, one item.' },
)

const carrier = Type.String({ maxLength: 255, description: 'Id of a carrier.' })
const cost = Type.Object(MoneySchema.properties, {
  additionalProperties: false,
  description: 'Cost of a segment over this carrier; default: its rate card.',
})
export const Carriers = Type.Array(
  Type.Object(
    {
      carrier,
      weight: Type.Optional(
        Type.Integer({ minimum: 0, maximum: 1000, default: 1, description: 'Its share; 0: only if others refuse.' }),
      ),
      cost: Type.Optional(cost),
    },
    { additionalProperties: false },
  ),
  { maxItems: 50, description: 'They share the messages by weight. Empty: matching messages are refused.' },
)
export const Failover = Type.Array(
  Type.Object({ carrier, cost: Type.Optional(cost) }, { additionalProperties: false }),
  { maxItems: 50, description: 'Tried in this order after all of `carriers` have refused.' },
)

const fields = {
  name: Type.Optional(Nullable(Type.String({ minLength: 1, maxLength: 60, description: 'Your name for it.' }))),
  position: Type.Optional(Type.Integer({ minimum: 1, description: 'Position among the routes; default: last.' })),
  failover: Type.Optional(Failover),
  max_cost: Type.Optional(
    Nullable(
      Type.Object(MoneySchema.properties, {
        additionalProperties: false,
        description:
          'For a message; carriers at which its segments would cost more are skipped, and those whose rate card has no price in its currency.',
      }),
    ),
  ),
  enabled: Type.Optional(Type.Boolean()),
}

export const CreateBody = Type.Object({ match: Match, carriers: Carriers, ...fields }, { additionalProperties: false })
export const PatchBody = Type.Object(
  { match: Type.Optional(Match), carriers: Type.Optional(Carriers), ...fields },
  { additionalProperties: false, minProperties: 1 },
)
type Body = Static<typeof PatchBody>

/**
 * Reads a body over the stored route (`base`; null for a new one). Adds faults to `faults`; the result is only valid without any. Unknown
 * accounts, campaigns and carriers are faults, and so is a carrier that appears twice in the chain.
 */
export async function readRoute(
  db: Queryable,
  faults: Faults,
  body: Body,
  base: RouteInput | null,
): Promise<RouteInput> {
  const match = body.match && faults.isSound('#/match') ? await readMatch(db, faults, body.match) : null
  const areSound = (['carriers', 'failover', 'max_cost'] as const).every((name) => faults.isSound(`#/${name}`))
  const money = areSound ? await readCarriers(db, faults, body, base) : null
  return {
    name: body.name === undefined ? (base?.name ?? null) : body.name,
    match: match ?? base?.match ?? everything,
    carriers: money?.carriers ?? base?.carriers ?? [],
    maxCost: money ? money.maxCost : (base?.maxCost ?? null),
    currency: money ? money.currency : (base?.currency ?? null),
    enabled: body.enabled ?? base?.enabled ?? true,
  }
}

const everything: RouteMatch = {
  accountId: null,
  campaignId: null,
  type: null,
  countries: [],
  prefixes: [],
  senders: [],
}

async function readMatch(db: Queryable, faults: Faults, match: Static<typeof Match>): Promise<RouteMatch> {
  const { account, campaign, type = null, countries = [], prefixes = [], senders = [] } = match
  const accountId = account === undefined ? null : await findAccount(db, account)
  if (account !== undefined && accountId === null)
    faults.add('#/match/account', 'invalid_value', 'is not an account of this installation')
  let campaignId: string | null = null
  if (campaign !== undefined && account === undefined)
    faults.add('#/match/campaign', 'invalid_value', 'needs `account`, because it belongs to one')
  else if (campaign !== undefined && accountId !== null) {
    campaignId = await findCampaignId(db, accountId, campaign)
    if (campaignId === null) faults.add('#/match/campaign', 'campaign_not_found', 'is not a campaign of this account')
  }
  countries.forEach((country, i) => {
    if (!isCountry(country)) faults.add(`#/match/countries/${i}`, 'invalid_value', 'is not an ISO 3166-1 country code')
  })
  const numbers = senders.map((sender, i) => {
    const read = readSender(sender)
    if (typeof read === 'string') return read
    faults.add(`#/match/senders/${i}`, read.code, read.detail)
    return sender
  })
  const digits = prefixes.map((prefix) => prefix.replace('+', ''))
  return orderMatch({ accountId, campaignId, type, countries, prefixes: digits, senders: numbers })
}

/** Reads carriers, failover and money together, because they depend on each other. */
async function readCarriers(
  db: Queryable,
  faults: Faults,
  body: Body,
  base: RouteInput | null,
): Promise<Pick<RouteInput, 'carriers' | 'maxCost' | 'currency'>> {
  const currencies = new Map<string, string>()
  const read = (money: Static<typeof MoneySchema> | null | undefined, pointer: string): number | null => {
    if (!money) return null
    currencies.set(money.currency, pointer)
    return readAmount(money.amount)
  }
  const known = await knownCarriers(db, [...(body.carriers ?? []), ...(body.failover ?? [])])
  const places = new Map<string, string>()
  const place = (text: string, pointer: string): string => {
    const id = parseId('car', text) ?? ''
    const before = places.get(id)
    if (!known.has(id)) faults.add(`${pointer}/carrier`, 'invalid_value', 'is not a carrier of this installation')
    else if (before) faults.add(`${pointer}/carrier`, 'invalid_value', `is already in the chain at ${before}`)
    else places.set(id, pointer)
    return id
  }
  const keep = (isShared: boolean): RouteCarrier[] => {
    const kept = (base?.carriers ?? []).filter(({ weight }) => (weight !== null) === isShared)
    for (const { carrierId } of kept) places.set(carrierId, isShared ? '#/carriers' : '#/failover')
    if (kept.some(({ cost }) => cost !== null) && base?.currency) currencies.set(base.currency, '#/max_cost')
    return kept
  }
  // Kept carriers come first, so that a new duplicate is the fault.
  const kept = { carriers: body.carriers ? null : keep(true), failover: body.failover ? null : keep(false) }
  const carriers =
    kept.carriers ??
    (body.carriers ?? []).map(({ carrier, weight = 1, cost }, i) => ({
      carrierId: place(carrier, `#/carriers/${i}`),
      weight,
      cost: read(cost, `#/carriers/${i}/cost/currency`),
    }))
  const failover =
    kept.failover ??
    (body.failover ?? []).map(({ carrier, cost }, i) => ({
      carrierId: place(carrier, `#/failover/${i}`),
      weight: null,
      cost: read(cost, `#/failover/${i}/cost/currency`),
    }))
  const isNamed = body.max_cost !== undefined
  const maxCost = isNamed ? read(body.max_cost, '#/max_cost/currency') : (base?.maxCost ?? null)
  if (!isNamed && maxCost !== null && base?.currency) currencies.set(base.currency, '#/max_cost')
  const [currency = null, ...others] = currencies.keys()
  for (const other of others)
    faults.add(
      currencies.get(other) ?? '#',
      'invalid_value',
      `is ${other}, but the route's currency is ${currency ?? ''}`,
    )
  if (carriers.length === 0 && failover.length > 0)
    faults.add('#/failover', 'invalid_value', 'needs carriers: a route without them refuses what it matches')
  const all = [...carriers, ...failover]
  // Invalid ids have their fault already, and no card.
  const unpriced = all.flatMap(({ cost, carrierId }) => (cost === null && carrierId !== '' ? [carrierId] : []))
  if (maxCost !== null && unpriced.length > 0 && (await carriersWithRates(db, unpriced)).size < new Set(unpriced).size)
    faults.add(
      '#/max_cost',
      'invalid_value',
      'needs the cost of every carrier, or its rate card: an unknown cost cannot be compared',
    )
  return { carriers: all, maxCost, currency }
}

async function knownCarriers(db: Queryable, items: readonly { carrier: string }[]): Promise<Set<string>> {
  const ids = items.flatMap(({ carrier }) => parseId('car', carrier) ?? [])
  // By primary key; locked, so that none is deleted before the route is written.
  const { rows } = await db.query<{ id: string }>(
    'select id from carriers where id = any ($1::uuid[]) and not is_test order by id for key share',
    [ids],
  )
  return new Set(rows.map(({ id }) => id))
}

/** Null if there is none. By primary key. */
export async function findAccount(db: Queryable, account: string): Promise<string | null> {
  const id = parseId('acc', account)
  const { rowCount } = await db.query('select 1 from accounts where id = $1', [id])
  return rowCount === 1 ? id : null
}
