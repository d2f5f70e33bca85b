import { randomBytes } from 'node:crypto'
import { Client } from 'pg'
import { afterAll, beforeEach, inject, onTestFinished, TestRunner } from 'vitest'
import { forgetIds } from '../base/ids.ts'
import { forgetClock } from './clock.ts'
import { inTransaction, openPool } from './db.ts'
import type { Connection, Db, Queryable } from './db.ts'
import { isLostRace } from './failure.ts'
import { learnDays } from './partitions.ts'
import { askMain } from './door-testing.ts'
import { patienceMs } from '../../../test/until.ts'

/** A migrated, empty database for one test file. */
export interface TestDatabase {
  db: Db
  sql: Sql
  /** For more pools. */
  connection: Connection
  /** For DATABASE_URL of a child process. */
  url: string
  name: string
  /** Drops it early. */
  close: () => Promise<void>
}

/** From `test/global-setup.ts`: a server, and the database on it to clone. */
export interface TestServer {
  url: string
  template: string
}

declare module 'vitest' {
  interface ProvidedContext {
    /** Path of the unix socket that returns the test server, which starts on the first request. */
    testServer: string
  }
}

let server: Promise<TestServer> | undefined

/** Runs a statement with its values as parameters; returns its rows. */
export type Sql = ReturnType<typeof sqlOn>

export const sqlOn =
  (db: Queryable) =>
  async <Row extends object = Record<string, unknown>>(
    pieces: TemplateStringsArray,
    ...values: unknown[]
  ): Promise<Row[]> =>
    (
      await db.query<Row>(
        pieces.reduce((text, piece, n) => `${text}$${n}${piece}`),
        values,
      )
    ).rows

/** Closes something after the current test or, while a file loads, after all of its tests; in reverse order. Does nothing in `beforeAll`. */
export function atEnd(close: () => unknown): void {
  const register = TestRunner.getCurrentTest() ? onTestFinished : afterAll
  register(async () => void (await close()))
}

/**
 * Clones the migrated template (0.1 s); safe in parallel. It is dropped at the end. Partitions are the default ones only: call
 * `ensurePartitions` for more.
 */
export async function createTestDatabase(): Promise<TestDatabase> {
  server ??= askMain<TestServer>(inject('testServer'))
  const { url: serverUrl, template } = await server
  const name = `test_${randomBytes(6).toString('hex')}`
  await runOn(serverUrl, `create database ${name} template ${template} strategy file_copy`)
  const url = withDatabase(serverUrl, name)
  const connection = { connectionString: url }
  const db = openPool(connection, { name: 'test', max: 10 })
  // The process may know the days, time and last id of an earlier file's database.
  forgetClock()
  forgetIds()
  await learnDays(db)
  let closed: Promise<void> | undefined
  const close = (): Promise<void> =>
    (closed ??= db.end().then(() => runOn(serverUrl, `drop database ${name} with (force)`)))
  atEnd(close)
  return { db, sql: sqlOn(db), connection, url, name, close }
}

/** Before each test empties the database and opens something over it. The result leads to that of the current test. */
export function forEachTest<T extends object>(db: Db, open: (db: Db) => Promise<T>): T {
  let current: T
  beforeEach(async () => {
    await emptyTables(db)
    current = await open(db)
  })
  return new Proxy({} as T, {
    get: (_, key) => Reflect.get(current, key) as unknown,
    set: (_, key, value) => Reflect.set(current, key, value),
  })
}

/**
 * Empties tables (`'accounts, carriers'`; all, if none are named) and those that refer to them, like `truncate … cascade`, for the few rows of a test: TRUNCATE
 * creates new files for some hundred tables and their indexes, which takes ten times as long. Waits for transactions that write to them.
 */
export async function emptyTables(db: Db, names?: string): Promise<void> {
  const { rows } = await db.query<{ name: string }>(
    `with recursive edges (parent, child) as materialized (
       select confrelid, conrelid from pg_constraint where contype = 'f'
       union all
       select inhparent, inhrelid from pg_inherits
     ), reached (id) as (
       select unnest($1::text[]::regclass[])::oid
       union
       select oid from pg_class
       where $1 is null and relkind = 'r' and relnamespace = current_schema()::regnamespace
         and relname not in ('migrations', 'routes_version')
       union
       select child from reached join edges on parent = id
     )
     select id::regclass::text as name from reached join pg_class on oid = id
     where relkind = 'r' and pg_relation_size(id) > 0`,
    [names?.split(', ')],
  )
  if (rows.length === 0) return
  const tables = rows.map(({ name }) => `only ${name}`)
  const empty = (): Promise<void> =>
    inTransaction(db, async (tx) => {
      await tx.query(`lock table ${tables.join(', ')} in exclusive mode`)
      // One statement: foreign keys are checked at its end.
      await tx.query(`with ${tables.map((table, n) => `d${n} as (delete from ${table})`).join(', ')} select`)
    })
  // A sweep may hold one of them and wait for another.
  while (await empty().then(() => false, isLostRaceOrThrow)) continue
}

/** Ignores errors of repeatable work; throws any other. */
export function isLostRaceOrThrow(error: unknown): boolean {
  if (isLostRace(error)) return true
  throw error
}

/** The same server, another database. */
export function withDatabase(url: string, database: string): string {
  const changed = new URL(url)
  changed.pathname = `/${database}`
  return changed.href
}

/** Resolves when `count` statements that match `like` wait for a lock; returns their process ids. */
export async function untilBlocked(db: Db, count: number, like = '%'): Promise<number[]> {
  const end = performance.now() + patienceMs
  for (;;) {
    const { rows } = await db.query<{ pid: number }>(
      `select pid from pg_stat_activity
       where datname = current_database() and wait_event_type = 'Lock' and query like $1`,
      [like],
    )
    if (rows.length === count) return rows.map(({ pid }) => pid)
    if (performance.now() > end) throw new Error(`${rows.length} wait for a lock, and not ${count}`)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

/** The number of rows read from tables with such names, by scans or indexes. `db` has one connection, whose reads are counted at once. */
export async function countReads(db: Db, like: string): Promise<number> {
  await db.query('select pg_stat_force_next_flush()')
  const { rows } = await db.query<{ reads: number }>(
    `select sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::int as reads from pg_stat_user_tables where relname like $1`,
    [like],
  )
  return rows[0]?.reads ?? NaN
}

/** Runs one statement on its own connection. */
export async function runOn(url: string, statement: string): Promise<void> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}

/** The tables that contain one of some words, in any column, in any form that PostgreSQL prints. */
export async function findInDatabase(db: Db, words: readonly string[]): Promise<string[]> {
  const { rows: tables } = await db.query<{ name: string }>(
    `select format('%I.%I', table_schema, table_name) as name
     from information_schema.tables
     where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')
     order by 1`,
  )
  // Bytes are printed in hexadecimal.
  const forms = words.flatMap((word) => [word, Buffer.from(word).toString('hex')])
  const found: string[] = []
  for (const { name } of tables) {
    const { rows } = await db.query<{ word: string }>(
      `select w.word from unnest($1::text[]) as w (word)
       where exists (select from only ${name} t where position(w.word in t::text) > 0)`,
      [forms],
    )
    for (const { word } of rows) found.push(`${name} has ${word}`)
  }
  return found
}
