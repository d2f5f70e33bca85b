/** Rate cards belong to the installation. Processes read them whole when their version changes. */
import { columns, fieldsOf } from '../ground/db/array.ts'
import type { Queryable, Tx } from '../ground/db/db.ts'
import type { Rate } from './rate.ts'

// One statement's rows: some 10 ms of the event loop.
const insertMax = 10_000

interface RateRow {
  carrierId: string
  destination: string
  effectiveFrom: Date
  cost: number
  currency: string
}

const rateOf = ({ carrierId, destination, effectiveFrom, cost, currency }: RateRow): Rate & { carrierId: string } => ({
  carrierId,
  destination,
  effectiveFrom,
  price: { amount: cost, currency },
})

const rateColumns = `carrier_id as "carrierId", destination, effective_from as "effectiveFrom", cost, currency`

/** By destination, then earliest first. By primary key prefix. */
export async function listRates(db: Queryable, carrierId: string): Promise<Rate[]> {
  const { rows } = await db.query<RateRow>(
    `select ${rateColumns} from rates where carrier_id = $1 order by destination, effective_from`,
    [carrierId],
  )
  return rows.map(rateOf)
}

/** Reads the table whole. */
export async function readRates(db: Queryable): Promise<(Rate & { carrierId: string })[]> {
  const { rows } = await db.query<RateRow>(`select ${rateColumns} from rates`)
  return rows.map(rateOf)
}

/** Rows that may price a segment to a number, of all carriers or one. By primary key, once for each carrier and each prefix of the number. */
export async function findRates(
  db: Queryable,
  to: string,
  country: string | null,
  carrierId: string | null = null,
): Promise<(Rate & { carrierId: string })[]> {
  const prefixes = Array.from(to, (_, i) => to.slice(0, i + 1))
  const { rows } = await db.query<RateRow>(
    `select ${rateColumns}
     from carriers c
     cross join lateral (
       select carrier_id, destination, effective_from, cost, currency
       from rates
       where carrier_id = c.id and destination = any ($1::text[])
       offset 0
     ) r
     where $2::uuid is null or c.id = $2`,
    [['*', ...(country === null ? [] : [country]), ...prefixes], carrierId],
  )
  return rows.map(rateOf)
}

/** The carriers that have a card. Reads the distinct first columns of the primary key; few carriers, few cards. */
export async function carriersWithRates(db: Queryable, carrierIds: readonly string[]): Promise<Set<string>> {
  const { rows } = await db.query<{ id: string }>(
    `select id from carriers c where id = any ($1::uuid[]) and exists (select from rates where carrier_id = c.id)`,
    [carrierIds],
  )
  return new Set(rows.map(({ id }) => id))
}

/** Replaces a carrier's card. Increments the version of the cards for every process and locks its row: changes of cards and routes take turns. */
export async function replaceRates(tx: Tx, carrierId: string, rates: readonly Rate[]): Promise<void> {
  await tx.query('update routes_version set version = version + 1, rates = rates + 1')
  await tx.query('delete from rates where carrier_id = $1', [carrierId])
  for (let at = 0; at < rates.length; at += insertMax) await insertRates(tx, carrierId, rates.slice(at, at + insertMax))
}

async function insertRates(tx: Tx, carrierId: string, rates: readonly Rate[]): Promise<void> {
  await tx.query(
    `insert into rates (carrier_id, destination, effective_from, cost, currency)
     select $1, destination, effective_from, cost, currency
     from unnest($2::text[], $3::timestamptz[], $4::bigint[], $5::text[]) as r (destination, effective_from, cost, currency)`,
    [
      carrierId,
      ...columns([
        ...fieldsOf(rates, 'destination', 'effectiveFrom'),
        rates.map(({ price }) => price.amount),
        rates.map(({ price }) => price.currency),
      ]),
    ],
  )
}
