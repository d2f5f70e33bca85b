/** What somebody should look at: alerts, and what waits for a person. */
import type { Queryable, Db } from '../ground/db/db.ts'
import { firstIdAt } from '../ground/base/ids.ts'
import { nowMs } from '../ground/db/clock.ts'
import { idSql } from '../ground/db/span.ts'
import { showTime } from '../ground/http/http.ts'
import { readLimits } from '../guards/limits.ts'
import { listStops, showGuard } from '../guards/stops.ts'
import { pageAlerts, renderAlert } from '../live/alerts-store.ts'
import type { RunningBroadcast } from './broadcasts.ts'

export interface Attention {
  type: string
  subject: string | null
  name: string | null
  count: number | null
  detail: string | null
  since: string | null
}

const itemsMax = 50
// Of its limit.
const nearPart = 0.8
const daysMax = 4

const none = { subject: null, name: null, count: null, detail: null, since: null }

/** Open alerts, newest first. */
export async function seeAlerts(db: Db, accountId: string): Promise<Attention[]> {
  const rows = await pageAlerts(db, accountId, { isOpen: true, type: null }, itemsMax, null)
  return rows.map((row) => {
    const {
      type,
      link,
      carrier,
      sender,
      webhook,
      reason,
      last_error: error,
      opened_at: since,
    } = renderAlert(row) as {
      type: string
      carrier: { id: string; name: string } | null
      opened_at: string | null
    } & Record<'link' | 'sender' | 'webhook' | 'reason' | 'last_error', string | null>
    const [subject, name] = [link ?? webhook ?? carrier?.id ?? sender, carrier?.name ?? sender]
    return { ...none, type, subject, name, detail: error ?? reason, since }
  })
}

/** Suspected opt-outs, by primary key. */
export async function seeSuspicions(db: Queryable, accountId: string): Promise<Attention[]> {
  const { rows } = await db.query<{ count: number; since: Date | null }>({
    name: 'see-suspicions',
    text: `
      select count(*)::int as count, min(created_at) as since
      from (select created_at from opt_out_suspicions where account_id = $1 limit 1000) s`,
    values: [accountId],
  })
  return counted('opt_out.suspected', rows[0])
}

/** Held messages of the last days whose outcome nobody knows; by the primary key of outcomes, which also has messages that were resolved. */
export async function seeUnconfirmed(db: Queryable, accountId: string): Promise<Attention[]> {
  const { rows } = await db.query<{ count: number; since: Date | null }>(
    `select count(*)::int as count, min(at) as since
     from (
       select m.updated_at as at
       from outcomes o
       join messages m on m.account_id = o.account_id and m.id = o.message_id
       where o.account_id = $1
         and o.status = 'unconfirmed'
         and o.message_id >= ${idSql(firstIdAt(nowMs() - daysMax * 86_400_000))}
         and m.id >= ${idSql(firstIdAt(nowMs() - daysMax * 86_400_000))}
         and m.status = 'unconfirmed'
         and m.error_code = 'outcome_unknown'
       limit 1000
     ) u`,
    [accountId],
  )
  return counted('message.unconfirmed', rows[0])
}

const counted = (type: string, { count, since } = { count: 0, since: null as Date | null }): Attention[] =>
  count === 0 ? [] : [{ ...none, type, count, since: showTime(since) }]

/** Guards that stop messages, and limits that are nearly reached. */
export async function seeGuards(db: Db, accountId: string): Promise<Attention[]> {
  const [stops, limits] = await Promise.all([listStops(db, accountId, itemsMax, null), readLimits(db, accountId, null)])
  const near = limits.filter(
    ({ limit, raised_by: raised, used, stop }) =>
      stop === null &&
      limit !== null &&
      used !== null &&
      Number(used) >= nearPart * (Number(limit) + Number(raised ?? 0)),
  )
  return [
    ...stops.map(showGuard).map(({ id, kind, key, count, since }) => ({
      ...none,
      type: 'guard.stopped',
      subject: id,
      name: key === null ? kind : `${kind} ${key}`,
      count,
      since,
    })),
    ...near.map(({ kind, key, used, limit }) => ({
      ...none,
      type: 'guard.near_limit',
      name: key === null ? kind : `${kind} ${key}`,
      detail: `${used} of ${limit}`,
    })),
  ]
}

export function seeBroadcasts(broadcasts: readonly RunningBroadcast[]): Attention[] {
  return broadcasts.flatMap(({ id, campaign, status, hold_reason: detail, created_at: since }): Attention[] => {
    const one = { ...none, subject: id, name: campaign.name, since }
    if (status === 'awaiting_approval') return [{ ...one, type: 'broadcast.awaiting_approval' }]
    return detail === null ? [] : [{ ...one, type: 'broadcast.held', detail }]
  })
}
