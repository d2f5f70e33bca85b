/**
 * The rival of imports: csv-parse, libphonenumber-js, and one prepared INSERT per row, with the best concurrency. No errors per row, no progress,
 * no resumption.
 */
import { createReadStream } from 'node:fs'
import { parse } from 'csv-parse'
import { parsePhoneNumberFromString } from 'libphonenumber-js/core'
import metadata from 'libphonenumber-js/min/metadata'
import { Pool } from 'pg'
import { newId } from '../../server/ground/base/ids.ts'
import { answerParent, nowMs } from './worker.ts'

const table = `
  create table if not exists naive_contacts (
    account_id uuid not null,
    id uuid not null,
    campaign_id uuid not null,
    phone_number text not null,
    first_name text,
    last_name text,
    attributes jsonb not null,
    created_at timestamptz not null default now(),
    primary key (account_id, id),
    unique (account_id, campaign_id, phone_number)
  )`

const insert = `
  insert into naive_contacts (account_id, campaign_id, id, phone_number, first_name, last_name, attributes)
  values ($1, $2, $3, $4, $5, $6, $7)
  on conflict (account_id, campaign_id, phone_number) do update
  set first_name = excluded.first_name, last_name = excluded.last_name, attributes = excluded.attributes`

// 20 are no faster.
const underWayMax = 10

type Row = { phone: string; first_name: string; last_name: string; city: string; plan: string }

/** Returns rows, and milliseconds from opening the file to the last commit. */
async function run(input: { databaseUrl: string; file: string }): Promise<{ ms: number; rows: number }> {
  const pool = new Pool({ connectionString: input.databaseUrl, max: underWayMax })
  await pool.query(table)
  const [account, campaign] = [newId(), newId()]
  const startMs = nowMs()
  const underWay = new Set<Promise<unknown>>()
  for await (const row of createReadStream(input.file).pipe(
    parse({ columns: true, bom: true }),
  ) as AsyncIterable<Row>) {
    const number = parsePhoneNumberFromString(`+${row.phone}`, metadata)
    if (!number?.isPossible()) continue
    const attributes = JSON.stringify({ city: row.city, plan: row.plan })
    const values = [account, campaign, newId(), number.number.slice(1), row.first_name, row.last_name, attributes]
    const one: Promise<unknown> = pool
      .query({ name: 'insert', text: insert, values })
      .finally(() => underWay.delete(one))
    underWay.add(one)
    if (underWay.size >= underWayMax) await Promise.race(underWay)
  }
  await Promise.all(underWay)
  const ms = nowMs() - startMs
  const { rows } = await pool.query<{ count: string }>('select count(*) from naive_contacts where campaign_id = $1', [
    campaign,
  ])
  await pool.end()
  return { ms, rows: Number(rows[0]?.count) }
}

answerParent({ run })
