/** Counts of moves, made from rows in memory for `addCounts`; falls back on `countMoves`, which counts what its statement changed. */
import { failures, type MessageRow, type Status } from './message.ts'
import type { Bucket } from '../usage/delta-sql.ts'

const bucketOf = (status: Status): Bucket =>
  failures.includes(status) ? 'failed' : status === 'sending' ? 'queued' : (status as Bucket)

const hourMs = 3_600_000

interface Group {
  row: MessageRow
  messages: number
}

/** Messages that have moved to their status, all from one bucket, counted: the parameter of `addCounts`. */
export function countInMemory(rows: readonly MessageRow[]): string {
  const byAccount = new Map<string, Group[]>()
  for (const row of rows) {
    const groups = byAccount.get(row.accountId) ?? []
    const group = groups.find((one) => isCountedWith(one.row, row))
    if (group) group.messages++
    else groups.push({ row, messages: 1 })
    if (groups.length === 1) byAccount.set(row.accountId, groups)
  }
  return JSON.stringify([...byAccount.values()].flat().map(deltaOf))
}

/** Compares, because a key of these fields would be a text for each message. */
const isCountedWith = (a: MessageRow, b: MessageRow): boolean =>
  a.status === b.status &&
  a.errorCode === b.errorCode &&
  a.segments === b.segments &&
  a.type === b.type &&
  a.country === b.country &&
  a.carrierId === b.carrierId &&
  a.campaignId === b.campaignId &&
  a.broadcastId === b.broadcastId &&
  a.isConfirmation === b.isConfirmation &&
  a.isTest === b.isTest &&
  a.cost === b.cost &&
  a.costCurrency === b.costCurrency &&
  a.costCarrierId === b.costCarrierId &&
  hourOf(a) === hourOf(b)

const hourOf = ({ createdAt }: MessageRow): number => Math.floor(createdAt.getTime() / hourMs)

function deltaOf({ row, messages }: Group) {
  const to = bucketOf(row.status)
  // The estimate of another carrier costs nothing.
  const hasOwnCost = row.costCarrierId !== null && row.costCarrierId === row.carrierId
  return {
    account_id: row.accountId,
    hour: new Date(hourOf(row) * hourMs),
    campaign_id: row.isConfirmation ? null : row.campaignId,
    broadcast_id: row.isConfirmation ? null : row.broadcastId,
    type: row.type,
    is_test: row.isTest,
    country: row.country,
    carrier_id: row.carrierId,
    segments: row.segments,
    to_bucket: to,
    error_code: to === 'failed' ? row.errorCode : null,
    currency: hasOwnCost ? row.costCurrency : null,
    cost: hasOwnCost ? (row.cost ?? 0) : 0,
    messages,
  }
}
