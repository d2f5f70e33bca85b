/** Day partitions of the large tables: ids are UUIDv7, so one range of ids is one day. */
import { firstIdAt, timeOfId } from './uuid.ts'
import { nowMs } from './clock.ts'
import type { Db } from './db.ts'
import { codeOf, isUnavailable } from './failure.ts'
import type { Log } from './log.ts'
import { ensureRowSecurity } from './row-security.ts'
import { runWithShortLock } from './short-lock.ts'

// `followGrowth` analyzes a growing day each time it has doubled, with a tenth of autovacuum's sample. Autovacuum would read thirty
// thousand of its rows at every look (10 s): 5 % of a message's total cost. It only comes without `followGrowth`. It counts changes, of
// which a message has three.
const analyzed = 'autovacuum_analyze_scale_factor = 1.5'
const changed = 'autovacuum_analyze_scale_factor = 5'

/** Tables by range of an id, with the storage parameters of their partitions. */
const tables = {
  // Rows of messages and submissions change: room in each page keeps the changes heap-only. One statement often changes all messages of a
  // page, and cannot reuse the rows it has just made dead: they need as much room again. (With 70, a third of the changes went to new pages
  // and into every index.)
  messages: `with (fillfactor = 45, ${changed})`,
  submissions: `with (fillfactor = 70, ${analyzed})`,
  outcomes: `with (${analyzed})`,
  events: `with (${analyzed})`,
  attempts: `with (${analyzed})`,
} as const

/** Parents of day partitions. */
export type Partitioned = keyof typeof tables

const dayMs = 86_400_000
// Days whose partitions this process knows, as their suffix.
const knownDays = new Set<string>()
// The suffix of the oldest partition of messages, with or without its other tables.
let oldest: string | null = null

/**
 * The one day of a batch of ids as the suffix of its partitions (`_20261121`), or empty for several days or missing partitions. A statement
 * on `messages${day}` touches that partition alone; through the parent it would prepare, lock and check every day.
 */
export function dayOf(ids: readonly string[]): string {
  const [first] = ids
  if (first === undefined) return ''
  if (!isIn(lastDay, first)) {
    const day = Math.floor(timeOfId(first) / dayMs) * dayMs
    lastDay = { suffix: suffixOf(day), from: firstIdAt(day), to: firstIdAt(day + dayMs) }
  }
  return ids.every((id) => isIn(lastDay, id)) && knownDays.has(lastDay.suffix) ? lastDay.suffix : ''
}

/** The last day asked for, as a range of ids: most ids are in it, which a comparison shows without parsing their times. */
let lastDay = { suffix: '', from: '', to: '' }
const isIn = ({ from, to }: typeof lastDay, id: string): boolean => id >= from && id < to

/**
 * The start of the oldest day of messages with a partition, as far as this process knows; older rows are in the default one. Its other
 * partitions may be gone: events have shorter retention. Null: none is known.
 */
export const firstDay = (): number | null => (oldest === null ? null : timeOfSuffix(oldest))

/** The names of the partitions of a time, and of the default ones. */
export function partitionsOf(ms: number): string[] {
  return Object.keys(tables).flatMap((table) => [`${table}${suffixOf(ms)}`, `${table}_default`])
}

/** A prepared statement of one day. */
export interface DayStatement {
  name: string
  text: string
}

/** A statement by day: its text is built once a day. `build` gets the suffix. */
export function perDay(name: string, build: (day: string) => string): (day: string) => DayStatement {
  const texts = new Map<string, string>()
  return (day) => {
    let text = texts.get(day)
    if (text === undefined) {
      // Yesterday's late receipts and today's traffic; older days are rare.
      if (texts.size > 8) texts.clear()
      texts.set(day, (text = build(day)))
    }
    return { name: `${name}${day}`, text }
  }
}

/** The first millisecond of the day of a suffix (`_20261121`). */
export const timeOfSuffix = (suffix: string): number =>
  Date.UTC(Number(suffix.slice(1, 5)), Number(suffix.slice(5, 7)) - 1, Number(suffix.slice(7, 9)))

/** Statements of this process stop naming the partitions of a day, before a drop. */
export function forgetDay(suffix: string): void {
  knownDays.delete(suffix)
}

const suffixOf = (ms: number): string => `_${new Date(ms).toISOString().slice(0, 10).replaceAll('-', '')}`

// Created well ahead, so that jobs may be down for days.
const daysAhead = 7

/**
 * Creates the partitions of yesterday (a clock that is off, a long transaction), today and the next days. Repeatable, and safe in several
 * processes. A table in constant use, as during a dump, is left to the next call, and delays no one. Reports rows in a default partition:
 * they mean a wrong clock, or that jobs were down.
 */
export async function ensurePartitions(db: Db, log: Log, now: number = nowMs()): Promise<void> {
  const today = Math.floor(now / dayMs) * dayMs
  await createPartitions(db, log, today)
  // A new partition is closed to requests until row security is set up.
  await ensureRowSecurity(db)
  await learnDays(db)
  for (const table of Object.keys(tables)) {
    const { rowCount } = await db.query(`select 1 from ${table}_default limit 1`)
    if (rowCount)
      log.error({ table }, 'rows in the default partition: a clock is off, or partitions were not created in time')
  }
}

/**
 * Learns which days have all their partitions, old ones too, and forgets dropped days. Call it periodically if other processes create them;
 * otherwise this process's statements name no day once the known ones are over.
 */
export async function learnDays(db: Db): Promise<void> {
  const { rows } = await db.query<{ suffix: string; isWhole: boolean; hasMessages: boolean }>(
    `select right(c.relname, 9) as suffix, count(*) = $2 as "isWhole", bool_or(i.inhparent = 'messages'::regclass) as "hasMessages"
     from pg_inherits i
     join pg_class c on c.oid = i.inhrelid
     where i.inhparent = any ($1::regclass[]) and c.relname ~ '_[0-9]{8}$'
     group by 1
     order by 1`,
    [Object.keys(tables), Object.keys(tables).length],
  )
  knownDays.clear()
  for (const { suffix, isWhole } of rows) if (isWhole) knownDays.add(suffix)
  oldest = rows.find(({ hasMessages }) => hasMessages)?.suffix ?? null
}

/** Creates partitions of some days of a table, in an installation that is not running. @throws if one cannot be created. */
export async function createDays(db: Db, log: Log, table: string, suffixes: readonly string[]): Promise<void> {
  const storage = Object.entries(tables).find(([name]) => name === table)?.[1] ?? ''
  for (const suffix of suffixes)
    if (!(await createPartition(db, log, table, timeOfSuffix(suffix), storage)))
      throw new Error(`the partition ${table}${suffix} could not be made`)
}

/** The oldest day first. If one fails, later ones are skipped: they need the same locks, and the same disk. */
async function createPartitions(db: Db, log: Log, today: number): Promise<void> {
  for (let day = -1; day <= daysAhead; day++)
    for (const [table, storage] of Object.entries(tables))
      if (!(await createPartition(db, log, table, today + day * dayMs, storage))) return
}

/** False if its locks were not free, or the database refused. */
async function createPartition(db: Db, log: Log, table: string, from: number, storage: string): Promise<boolean> {
  const name = `${table}${suffixOf(from)}`
  const { rows } = await db.query<{ isThere: boolean }>(`select to_regclass($1) is not null as "isThere"`, [name])
  if (rows[0]?.isThere) return true
  try {
    const isMade = await runWithShortLock(
      db,
      `create table if not exists ${name} partition of ${table}
       for values from ('${firstIdAt(from)}') to ('${firstIdAt(from + dayMs)}') ${storage}`,
    )
    if (!isMade) log.warn({ partition: name }, 'partition not created')
    return isMade
  } catch (error) {
    // Another process was faster.
    if (['42P07', '23505'].includes(codeOf(error) ?? '')) return true
    // The default partition holds rows of that day (23514), and will keep them.
    log.warn({ error, partition: name }, 'partition not created')
    return !isUnavailable(error)
  }
}
