/** Response and receipt times over all processes: each writes its recent ones, and readers merge them. */
import { columns, fieldsOf } from '../ground/db/array.ts'
import type { Db, Tx } from '../ground/db/db.ts'
import { mergeSparse, percentilesOf, type Percentiles, type Sparse } from '../ground/metrics/histogram.ts'
import { recentOf, type Meter } from '../ground/metrics/meter.ts'
import { addMeasured } from '../usage/series.ts'

/** By country (ISO 3166-1 alpha-2, or `other`). */
type ByCountry = Record<string, Sparse>

/** A process's times: of responses by link, of receipts by carrier. */
export interface NodeTimes {
  responses: Record<string, ByCountry>
  receipts: Record<string, ByCountry>
}

/** Recent times of a carrier or a link, over all processes. */
export interface Latency {
  response: Percentiles | null
  receipt: Percentiles | null
}

/** How often a process writes its times. */
export const saveEveryMs = 5000
// A process that has not written for three times that is gone or silent.
const silentSeconds = 15

/** Writes this process's recent times, and what it measured since the last call. */
export async function saveLive(db: Db, nodeId: string, meter: Meter): Promise<void> {
  meter.turn()
  const times: NodeTimes = {
    responses: Object.fromEntries([...meter.links].map(([id, link]) => [id, recentOf(meter, link.responses)])),
    receipts: Object.fromEntries([...meter.receiptTimes].map(([id, one]) => [id, recentOf(meter, one)])),
  }
  // Without data there is nothing to write: the last row is soon too old to be read.
  const isAny = [...Object.values(times.responses), ...Object.values(times.receipts)].some((part) => hasAny(part))
  if (isAny) await saveTimes(db, nodeId, times)
  await addMeasured(db, meter.takeMeasured())
  await saveSenders(db, meter)
}

const hasAny = (part: ByCountry): boolean => Object.keys(part).length > 0

/** By primary key. */
async function saveTimes(db: Db, nodeId: string, times: NodeTimes): Promise<void> {
  await db.query(
    `insert into node_times (node_id, times)
     values ($1, $2)
     on conflict (node_id) do update set times = excluded.times, updated_at = now()`,
    [nodeId, JSON.stringify(times)],
  )
}

/** Adds to the current five minutes of each sender, by primary key; in one order, so that two processes do not deadlock. */
async function saveSenders(db: Db, meter: Meter): Promise<void> {
  const ends = meter.takeSenders().sort((a, b) => (a.accountId + a.number < b.accountId + b.number ? -1 : 1))
  if (ends.length === 0) return
  await db.query(
    `insert into sender_ends as s (account_id, number, at, delivered, failed)
     select e.account_id, e.number, date_bin('5 minutes', now(), 'epoch'), e.delivered, e.failed
     from unnest($1::uuid[], $2::text[], $3::int[], $4::int[]) as e (account_id, number, delivered, failed)
     join accounts a on a.id = e.account_id
     on conflict (account_id, number, at) do update
       set delivered = s.delivered + excluded.delivered, failed = s.failed + excluded.failed`,
    columns(fieldsOf(ends, 'accountId', 'number', 'delivered', 'failed')),
  )
}

/** Recent times of all live processes: one row each. */
export async function readTimes(db: Db | Tx): Promise<readonly NodeTimes[]> {
  const { rows } = await db.query<{ times: NodeTimes }>(
    `select times from node_times where updated_at > now() - make_interval(secs => $1)`,
    [silentSeconds],
  )
  return rows.map(({ times }) => times)
}

export function responsesOf(nodes: readonly NodeTimes[], linkId: string): Percentiles | null {
  return percentilesOf(mergeSparse(partsOf(nodes, 'responses', [linkId]).flatMap((part) => Object.values(part))))
}

export function latencyOf(nodes: readonly NodeTimes[], carrierId: string, linkIds: readonly string[]): Latency {
  const of = (parts: ByCountry[]): Percentiles | null =>
    percentilesOf(mergeSparse(parts.flatMap((part) => Object.values(part))))
  return { response: of(partsOf(nodes, 'responses', linkIds)), receipt: of(partsOf(nodes, 'receipts', [carrierId])) }
}

/** The busiest first. */
export function latencyByCountry(
  nodes: readonly NodeTimes[],
  carrierId: string,
  linkIds: readonly string[],
): ({ country: string } & Latency)[] {
  const responses = partsOf(nodes, 'responses', linkIds)
  const receipts = partsOf(nodes, 'receipts', [carrierId])
  const countries = new Set([...responses, ...receipts].flatMap((part) => Object.keys(part)))
  const of = (parts: ByCountry[], country: string): Percentiles | null =>
    percentilesOf(mergeSparse(parts.map((part) => part[country] ?? [])))
  return [...countries]
    .map((country) => ({ country, response: of(responses, country), receipt: of(receipts, country) }))
    .sort((a, b) => busyness(b) - busyness(a) || (a.country < b.country ? -1 : 1))
}

const busyness = ({ response, receipt }: Latency): number => response?.count ?? receipt?.count ?? 0

const partsOf = (nodes: readonly NodeTimes[], what: keyof NodeTimes, ids: readonly string[]): ByCountry[] =>
  nodes.flatMap((node) =>
    ids.flatMap((id) => {
      const part = node[what][id]
      return part ? [part] : []
    }),
  )
