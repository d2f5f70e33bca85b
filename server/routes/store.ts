/** Routes belong to the installation; there are thousands at most, and they are read whole. */
import { hash } from 'node:crypto'
import { fieldsOf } from '../ground/db/array.ts'
import type { Queryable, Tx } from '../ground/db/db.ts'
import type { RoutableCarrier, RouteCarrier, RouteMatch, Rule } from './route.ts'

/** Lists of the match are sorted and without duplicates (`orderMatch`). */
export interface RouteInput {
  name: string | null
  match: RouteMatch
  carriers: readonly RouteCarrier[]
  maxCost: number | null
  /** ISO 4217, of all amounts of the route. */
  currency: string | null
  enabled: boolean
}

export interface RouteRow extends RouteInput {
  id: string
  /** From 1, without gaps. */
  position: number
  createdAt: Date
  updatedAt: Date
}

export const ruleOf = ({ id, enabled, carriers, maxCost, currency, match }: RouteRow): Rule => ({
  id,
  enabled,
  carriers,
  maxCost,
  currency,
  ...match,
})

/** The canonical form of a match, for comparison. */
export function orderMatch(match: RouteMatch): RouteMatch {
  const order = (items: readonly string[]): string[] => [...new Set(items)].sort()
  return {
    ...match,
    countries: order(match.countries),
    prefixes: order(match.prefixes),
    senders: order(match.senders),
  }
}

const keyOf = (m: RouteMatch): Buffer =>
  hash('sha256', JSON.stringify([m.accountId, m.campaignId, m.type, m.countries, m.prefixes, m.senders]), 'buffer')

const selectRoutes = `
  select r.id, r.position, r.name, r.enabled, r.max_cost::float8 as "maxCost", r.currency,
    json_build_object('accountId', r.match_account_id, 'campaignId', r.match_campaign_id, 'type', r.match_type,
      'countries', r.match_countries, 'prefixes', r.match_prefixes, 'senders', r.match_senders) as match,
    coalesce(c.carriers, '[]') as carriers, r.created_at as "createdAt", r.updated_at as "updatedAt"
  from routes r
  left join lateral (
    select json_agg(json_build_object('carrierId', carrier_id, 'weight', weight, 'cost', cost) order by position) as carriers
    from route_carriers
    where route_id = r.id
  ) c on true`

/** All routes in order. Reads the two tables whole. */
export async function listRoutes(db: Queryable): Promise<RouteRow[]> {
  const { rows } = await db.query<RouteRow>(`${selectRoutes} order by r.position`)
  return rows
}

/** By primary key. */
export async function findRoute(db: Queryable, id: string): Promise<RouteRow | null> {
  const { rows } = await db.query<RouteRow>(`${selectRoutes} where r.id = $1`, [id])
  return rows[0] ?? null
}

/** The enabled route other than `id` with this match, or null. By routes_match_key. */
export async function findTwin(db: Queryable, id: string, match: RouteMatch): Promise<RouteRow | null> {
  const { rows } = await db.query<RouteRow>(`${selectRoutes} where r.match_key = $2 and r.enabled and r.id <> $1`, [
    id,
    keyOf(match),
  ])
  return rows[0] ?? null
}

/** `isTest`: the carrier of test mode, which no route may use. */
type KnownCarrier = RoutableCarrier & { isTest: boolean }

/** What processes poll: versions of routes and rate cards, and the carriers, which change without them. Both tables are tiny. */
export async function readVersion(
  db: Queryable,
): Promise<{ version: string; rates: string; carriers: KnownCarrier[] }> {
  const { rows } = await db.query<{ version: string; rates: string; carriers: KnownCarrier[] }>({
    name: 'routes-version',
    text: `select version::text, rates::text,
       (select coalesce(json_agg(json_build_object('id', id, 'enabled', enabled, 'priority', priority, 'isTest', is_test) order by priority, id), '[]')
        from carriers) as carriers
     from routes_version`,
  })
  return rows[0] ?? { version: '0', rates: '0', carriers: [] }
}

/** Begins a change of routes: locks the one row of routes_version, so that changes take turns and positions stay without gaps. */
export async function beginChange(tx: Tx): Promise<void> {
  await tx.query('update routes_version set version = version + 1')
}

/** Inserts a route at a position, or last (null), after `beginChange`; later ones move down. Returns the number of routes. */
export async function insertRoute(tx: Tx, id: string, position: number | null, input: RouteInput): Promise<number> {
  const { rows } = await tx.query<{ count: number }>('select count(*)::int as count from routes')
  const last = (rows[0]?.count ?? 0) + 1
  const place = Math.min(position ?? last, last)
  await tx.query('update routes set position = position + 1 where position >= $1', [place])
  await tx.query(
    `insert into routes (id, position, name, match_account_id, match_campaign_id, match_type, match_countries, match_prefixes,
       match_senders, match_key, max_cost, currency, enabled)
     values ($1, $13, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
    [...valuesOf(id, input), place],
  )
  await insertCarriers(tx, id, input.carriers)
  return last
}

/** Updates everything but the position, after `beginChange`. By primary key. */
export async function updateRoute(tx: Tx, id: string, input: RouteInput): Promise<void> {
  await tx.query(
    `update routes
     set name = $2, match_account_id = $3, match_campaign_id = $4, match_type = $5, match_countries = $6, match_prefixes = $7,
       match_senders = $8, match_key = $9, max_cost = $10, currency = $11, enabled = $12, updated_at = now()
     where id = $1`,
    valuesOf(id, input),
  )
  await tx.query('delete from route_carriers where route_id = $1', [id])
  await insertCarriers(tx, id, input.carriers)
}

/** Moves a route, after `beginChange`; those between move up or down by one. */
export async function moveRoute(tx: Tx, id: string, from: number, to: number): Promise<void> {
  const [low, high, step] = from < to ? [from + 1, to, -1] : [to, from - 1, 1]
  await tx.query('update routes set position = position + $3 where position between $1 and $2', [low, high, step])
  await tx.query('update routes set position = $2, updated_at = now() where id = $1', [id, to])
}

/** Reorders all routes, after `beginChange`; `ids` must hold each once. */
export async function reorderRoutes(tx: Tx, ids: readonly string[]): Promise<void> {
  await tx.query(
    `update routes r
     set position = o.position, updated_at = now()
     from unnest($1::uuid[]) with ordinality as o (id, position)
     where r.id = o.id and r.position <> o.position`,
    [ids],
  )
}

/** Deletes a route, after `beginChange`; later ones move up. */
export async function deleteRoute(tx: Tx, id: string): Promise<boolean> {
  const { rows } = await tx.query<{ position: number }>('delete from routes where id = $1 returning position', [id])
  if (!rows[0]) return false
  await tx.query('update routes set position = position - 1 where position > $1', [rows[0].position])
  return true
}

const valuesOf = (id: string, { name, match, maxCost, currency, enabled }: RouteInput): unknown[] => [
  id,
  name,
  match.accountId,
  match.campaignId,
  match.type,
  match.countries,
  match.prefixes,
  match.senders,
  keyOf(match),
  maxCost,
  currency,
  enabled,
]

async function insertCarriers(tx: Tx, id: string, carriers: readonly RouteCarrier[]): Promise<void> {
  await tx.query(
    `insert into route_carriers (route_id, carrier_id, position, weight, cost)
     select $1, carrier_id, position, weight, cost
     from unnest($2::uuid[], $3::int[], $4::bigint[]) with ordinality as c (carrier_id, weight, cost, position)`,
    [id, ...fieldsOf(carriers, 'carrierId', 'weight', 'cost')],
  )
}
