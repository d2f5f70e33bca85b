/** The cost of messages that go to another carrier than estimated. */
import { columns, fieldsOf } from '../ground/db/array.ts'
import type { Tx } from '../ground/db/db.ts'
import type { MessageRow } from './message.ts'

type Cost = Pick<MessageRow, 'id' | 'cost' | 'costCurrency' | 'costCarrierId' | 'firstEstimate'>

/**
 * Gives claimed messages their carrier's cost, in the rows too, and keeps the estimate. No statement if all went to the expected carrier, or no price
 * is known: such messages name no carrier of an estimate. Counters do not change, because queued messages count without cost. Locks only what the
 * claim has locked.
 */
export async function repriceStrays(tx: Tx, claimed: readonly MessageRow[]): Promise<void> {
  const strays = new Map(
    claimed
      .filter((row) => row.status === 'sending' && row.costCarrierId !== null && row.costCarrierId !== row.carrierId)
      .map((row) => [row.id, row]),
  )
  if (strays.size === 0) return
  const rows = [...strays.values()]
  const { rows: priced } = await tx.query<Cost>({
    name: 'reprice-strays',
    text: repriceSql,
    values: columns(fieldsOf(rows, 'accountId', 'id')),
  })
  for (const one of priced) Object.assign(strays.get(one.id) ?? {}, one)
}

/**
 * SQL of `cost_carrier_id` for a message whose cost changes under the condition: the claim finds no carrier of the estimate, and prices it again.
 * Null stays: no price is known.
 */
export const toBePriced = (condition: string, costCarrierId: string): string =>
  `case when ${condition} and ${costCarrierId} is not null then '00000000-0000-0000-0000-000000000000'::uuid else ${costCarrierId} end`

// A route's price for the carrier precedes its card, where the longest prefix counts, then the country, then everywhere (as in rates/rate.ts). By the
// primary keys of route_carriers and of rates, a probe for each length of a prefix. Amounts have the digits of `showMoney`.
const repriceSql = `
  with stray as materialized (
    select m.account_id, m.id, price.cost * m.segments as cost, price.currency
    from unnest($1::uuid[], $2::uuid[]) as s (account_id, id)
    join messages m on m.account_id = s.account_id and m.id = s.id
    left join lateral (
      select known.cost, known.currency
      from (
        select c.cost, r.currency, 100 as rank, null as effective_from
        from route_carriers c
        join routes r on r.id = c.route_id
        where c.route_id = m.route_id
          and c.carrier_id = m.carrier_id
          and c.cost is not null
        union all
        select cost, currency,
          case when destination = '*' then 0 when destination ~ '^[A-Z]' then 1 else 1 + length(destination) end,
          effective_from
        from rates
        where carrier_id = m.carrier_id
          and effective_from <= now()
          and destination = any (
            array['*', m.country] || array(select left(m.their_number, n) from generate_series(1, 15) n))
      ) known
      order by rank desc, effective_from desc
      limit 1
    ) price on true
  )
  update messages m
  set first_estimate = coalesce(m.first_estimate, m.cost || ' ' || m.cost_currency, ''),
    cost = round(s.cost / 1000000.0, case when s.cost % 10 = 0 then 5 else 6 end),
    cost_currency = s.currency,
    cost_carrier_id = m.carrier_id
  from stray s
  where m.account_id = s.account_id
    and m.id = s.id
  returning m.id, m.cost, m.cost_currency as "costCurrency", m.cost_carrier_id as "costCarrierId", m.first_estimate as "firstEstimate"`
