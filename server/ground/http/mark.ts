/**
 * A mark in time for lists whose ids are made before their rows are committed: what was not committed at the mark is found later, though
 * its id may be older than ids that were. It stays below the oldest transaction that was running, so a row may be shown again; none is passed over.
 */
import type { Queryable } from '../db/db.ts'
import { firstIdAt, timeOfId } from '../base/ids.ts'

/** What had been committed when it was taken. */
export interface Mark {
  /** No row that was not committed has an older id. */
  floor: string
  /** Rows with this id or a newer one were made after it. */
  made: string
  /** The oldest transaction that was running, or the next one: every older one is over. */
  xid: string
}

// Between the making of an id and the beginning of its transaction: waiting for a connection, and how far the clocks of processes may differ.
const latenessMs = 60_000

/** Takes a mark; to be called before what it marks is read. One look at the running transactions, no table. */
export async function takeMark(db: Queryable): Promise<Mark> {
  const { rows } = await db.query<{ xid: string; now: Date; oldest: Date | null }>({
    name: 'take-mark',
    text: `
      select pg_snapshot_xmin(pg_current_snapshot())::text as xid, clock_timestamp() as now, (
          select min(xact_start)
          from pg_stat_activity
          where datname = current_database()
            and backend_xid is not null
        ) as oldest`,
  })
  const { xid = '0', now = new Date(0), oldest = null } = rows[0] ?? {}
  const madeMs = now.getTime()
  const floorMs = Math.min(madeMs, oldest?.getTime() ?? madeMs) - latenessMs
  return { floor: firstIdAt(floorMs), made: firstIdAt(madeMs), xid }
}

/** The mark for a list whose old rows are looked through too, for those that have changed since. */
export const withOldRows = (mark: Mark): Mark => ({ ...mark, floor: firstIdAt(0) })

/**
 * The condition that a row was not committed at the mark, or has changed since; for rows from its floor on. `xmin` says which transaction
 * wrote the row as it stands: ages are compared because it has only half of the number. What is newer than the mark needs no look at
 * it, so that a cursor survives its numbers; where they have gone backwards (a restored database), all is shown.
 */
export function isSince(row: string, mark: Mark, value: (one: unknown) => string, id: string = `${row}.id`): string {
  const xid = `${value(mark.xid)}::xid8::xid`
  return `(${id} >= ${value(mark.made)} or age(${row}.xmin) <= age(${xid}) or age(${xid}) < 0)`
}

/** For a cursor: times as milliseconds in base 36. */
export function showMark({ floor, made, xid }: Mark): string {
  return [timeOf(floor), timeOf(made), xid].join('-')
}

/** The mark from a cursor; null: it is not one. */
export function readMark(text: string): Mark | null {
  const [, floor = '', made = '', xid = ''] = /^([0-9a-z]{1,9})-([0-9a-z]{1,9})-(\d{1,18})$/.exec(text) ?? []
  if (xid === '') return null
  return { floor: firstIdAt(Number.parseInt(floor, 36)), made: firstIdAt(Number.parseInt(made, 36)), xid }
}

const timeOf = (id: string): string => timeOfId(id).toString(36)
