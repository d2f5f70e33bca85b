/** Counts of moves, made from rows in memory for `addCounts`; falls back on `countMoves`, which counts what its statement changed. */
import { failures, type MessageRow, type Status } from './message.ts'
import type { Bucket } from '../usage/delta-sql.ts'

const bucketOf = (status: Status): Bucket =>
  failures.includes(status) ? 'failed' : status === 'sending' ? 'queued' : (status as Bucket)

const hourMs = 3_600_000

/** Messages that have moved to their status, all from one bucket, counted: the parameter of `addCounts`. */
export function countInMemory(rows: readonly MessageRow[]): string {
  const counted = new Map<string, { messages: number }>()
  for (const row of rows) {
    const to = bucketOf(row.status)
    // The estimate of another carrier costs nothing.
    const hasOwnCost = row.costCarrierId !== null && row.costCarrierId === row.carrierId
    const delta = {
      account_id: row.accountId,
      hour: new Date(row.createdAt.getTime() - (row.createdAt.getTime() % hourMs)).toISOString(),
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
      messages: 1,
    }
    const key = Object.values(delta).join()
    const known = counted.get(key)
    if (known) known.messages++
    else counted.set(key, delta)
  }
  return JSON.stringify([...counted.values()])
}
