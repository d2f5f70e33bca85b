/**
 * A point in time for lists whose ids are made before their commit: rows not committed at the mark are found later, although their id may
 * be older than ones already shown. It stays below the oldest running transaction, so a row may be shown again, and none is skipped.
 */
import type { Queryable } from '../db/db.ts'
import { firstIdAt, timeOfId } from '../base/ids.ts'

export interface Mark {
  /** Uncommitted rows have no older id. */
  floor: string
  /** Rows with this id or a newer one were made after it. */
  made: string
  /** The oldest running transaction, or the next one: all older ones are over. */
  xid: string
}

// Between an id and the start of its transaction: the wait for a connection, and differences between clocks.
const latenessMs = 60_000

/** Call it before the read that it marks. Looks at the running transactions only, no table. */
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

/** The mark for a list that also checks old rows for changes. */
export const withOldRows = (mark: Mark): Mark => ({ ...mark, floor: firstIdAt(0) })

/**
 * The condition that a row was not committed at the mark, or has changed since; for rows from its floor on. `xmin` is the transaction that
 * wrote the row; ages are compared because it has only half of the number. Rows newer than the mark need no check, so that a cursor
 * survives its numbers; if these went backwards (a restored database), all rows match.
 */
export function isSince(row: string, mark: Mark, value: (one: unknown) => string, id: string = `${row}.id`): string {
  const xid = `${value(mark.xid)}::xid8::xid`
  return `(${id} >= ${value(mark.made)} or age(${row}.xmin) <= age(${xid}) or age(${xid}) < 0)`
}

/** For a cursor: times as milliseconds in base 36. */
export function showMark({ floor, made, xid }: Mark): string {
  return [timeOf(floor), timeOf(made), xid].join('-')
}

/** Null if it is not a mark. */
export function readMark(text: string): Mark | null {
  const [, floor = '', made = '', xid = ''] = /^([0-9a-z]{1,9})-([0-9a-z]{1,9})-(\d{1,18})$/.exec(text) ?? []
  if (xid === '') return null
  return { floor: firstIdAt(Number.parseInt(floor, 36)), made: firstIdAt(Number.parseInt(made, 36)), xid }
}

const timeOf = (id: string): string => timeOfId(id).toString(36)
