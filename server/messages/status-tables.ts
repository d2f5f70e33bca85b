/**
 * Statuses and errors with status tables: `outcomes` has every end except `delivered`, `queue` and `delayed` the waiting messages. Such lists are
 * found there, and only the days of the results are read.
 */
import type { Queryable } from '../ground/db/db.ts'
import { outcomeStatuses, type Status } from '../message/message.ts'

/** Statuses with few messages, which combine with any search. */
export const indexedStatuses: readonly Status[] = [...outcomeStatuses, 'scheduled']

/** Statuses in status tables; the queue may be long. */
export const tableStatuses: readonly Status[] = [...indexedStatuses, 'queued']

/** A search in them: an error, with or without statuses, or their statuses. */
export interface StatusSearch {
  errorCode: string | null
  statuses: string[] | null
}

/** Exclusive bounds of ids, and the direction. */
export interface Range {
  isUpward: boolean
  lower: string | null
  upper: string | null
}

/**
 * The first `limit` ids in order, without duplicates; the message itself decides whether its entry is current. By the primary key of outcomes or
 * outcomes_error, that of delayed, and that of the queue in each of the account's few lanes and their parts.
 */
export async function findInStatusTables(
  db: Queryable,
  accountId: string,
  { errorCode, statuses }: StatusSearch,
  { isUpward, lower, upper }: Range,
  limit: number,
): Promise<string[]> {
  const values: unknown[] = [accountId]
  const value = (one: unknown): string => `$${values.push(one)}`
  const tail = `order by message_id ${isUpward ? 'asc' : 'desc'} limit ${limit}`
  const within = [lower && `and message_id > ${value(lower)}`, upper && `and message_id < ${value(upper)}`]
  const of = (table: string, where: string): string =>
    [`select message_id from ${table} where account_id = $1`, where, ...within, tail].filter(Boolean).join(' ')
  const ofStatus = (status: string): string[] => {
    if (status === 'scheduled') return [of('delayed', '')]
    // Delayed also holds retries, and messages in quiet hours.
    if (status === 'queued') return [of('delayed', ''), ofQueue(of('queue', 'and lane_id = part.id'))]
    return [of('outcomes', `and status = ${value(status)}`)]
  }
  const parts =
    errorCode === null
      ? [...new Set([...new Set(statuses)].flatMap(ofStatus))]
      : [
          of(
            'outcomes',
            `and error_code = ${value(errorCode)} ${statuses ? `and status = any (${value(statuses)}::text[])` : ''}`,
          ),
        ]
  // Each part is read separately up to the limit, which avoids sorting them all.
  const { rows } = await db.query<{ id: string }>(
    `select distinct message_id as id from (${parts.map((part) => `(${part})`).join(' union all ')}) s ${tail}`,
    values,
  )
  return rows.map(({ id }) => id)
}

const ofQueue = (inPart: string): string => `
  select message_id
  from (
    select id from lanes where account_id = $1
    union all
    select b.id from lanes l join backlogs b on b.lane_id = l.id where l.account_id = $1
  ) part
  cross join lateral (${inPart}) q`
