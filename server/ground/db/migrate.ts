import { readdir, readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { RunnerOption } from 'node-pg-migrate'
import { Client } from 'pg'
import { configOf } from './address.ts'
import { openPool, type Connection, type Queryable } from './db.ts'
import { codeOf } from './failure.ts'
import type { Log } from './log.ts'
import { requireWhole } from './restoring.ts'
import { ensureRowSecurity } from './row-security.ts'
import { requireQueueSchema, schemaOf } from './schema-name.ts'
import { liftTimeouts } from './timeouts.ts'

/** PostgreSQL 15 is the oldest that upstream and Debian still support, and the oldest we test. */
const oldestVersion = 150_000

/** node-pg-migrate's table of applied migrations. */
export const migrationsTable = 'migrations'

/** Our own migrations: `NNNN_what.sql`, forward only, in order of their number. */
const migrationsDir = join(import.meta.dirname, 'migrations')

/**
 * Brings the schema up to date and returns the names of the migrations applied. Each file is one transaction, except those with
 * `concurrently` in their name, whose single statement cannot be in one. A second starter waits for the first. While a migration waits for
 * a table, others queue behind it: after `lockMs` it is rolled back and tried again. Throws, with a message for the operator, if the server
 * is too old, is set up to lose data, was migrated by a newer Heliogram, or was restored only in part.
 */
export async function migrate(
  connection: Connection,
  options: {
    log: Log
    dir?: string
    /** For a restore, which completes the database itself: up to the backup's last migration. */
    restore?: { upTo: number }
    /** Accepts a server that loses data in a crash: for tests only. */
    isDisposable?: boolean
    /** How often blocking sessions are logged. Default 10 s. */
    noticeEveryMs?: number
    /** How long a migration waits for a lock. Default 2 s. */
    lockMs?: number
    /** The pause for sessions that queued behind it. Default 8 s. */
    pauseMs?: number
  },
): Promise<string[]> {
  const { log, dir = migrationsDir, noticeEveryMs = 10_000, lockMs = 2000, pauseMs = 8000 } = options
  // Migrations may take hours: no deadline.
  const client = new Client({
    ...configOf(connection),
    application_name: 'heliogram migrate',
    connectionTimeoutMillis: 10_000,
  })
  client.on('error', (error) => log.error({ error }, 'database connection lost'))
  await client.connect()
  // Polls while it waits for a lock, not between two tries.
  const stopTelling = await tellWhoBlocks(client, connection, log, noticeEveryMs, Math.min(lockMs / 2, noticeEveryMs))
  try {
    await client.query(liftTimeouts(false))
    await checkServer(client, options.isDisposable ?? false)
    const schema = await schemaOf(client)
    await requireQueueSchema(client, schema)
    const [ours, applied] = await Promise.all([namesIn(dir), appliedNames(client)])
    const unknown = applied.filter((name) => !ours.includes(name))
    if (unknown.length === applied.length && unknown.length > 0) {
      throw new Error(
        'The database was made by a Heliogram from before the first release and cannot be upgraded. Start with an empty database: delete the data folder, or create another one for DATABASE_URL.',
      )
    }
    if (unknown.length > 0) {
      throw new Error(
        `The database was migrated by a newer Heliogram (it has ${unknown.join(', ')}, unknown here). Start that version again, or restore a backup.`,
      )
    }
    const upTo = options.restore?.upTo ?? ours.length
    if (!options.restore) await requireWhole(client)
    // The end of the restore waits for the disk, and so for all before it.
    else await client.query('set synchronous_commit = off')
    const isLocked = (): Promise<void> => giveWay(client, log, pauseMs)
    const names =
      applied.length >= upTo ? [] : await applyPending(client, { dir, schema, log, applied, lockMs, isLocked, upTo })
    // Row security is known for the latest version only.
    if (upTo < ours.length) return names
    // Checked again: a concurrent restore has found no table, or has found these and is refused.
    if (!options.restore) await requireWhole(client)
    await client.query(`set lock_timeout = ${lockMs}`)
    await untilLocked(() => ensureRowSecurity(client), isLocked)
    return names
  } finally {
    await stopTelling()
    await client.end()
  }
}

/** Logs the sessions that a connection waits for, until stopped. A dump may hold locks for hours, others forever. */
async function tellWhoBlocks(
  client: Client,
  connection: Connection,
  log: Log,
  everyMs: number,
  lookMs: number,
): Promise<() => Promise<void>> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
  // Connects on first use.
  const db = openPool(connection, { name: 'migrate', max: 1 })
  const toldAt = new Map<number, number>()
  const tell = async (): Promise<void> => {
    const blockers = await db.query<{ pid: number; application: string; user: string }>(
      `select pid, application_name as application, usename::text as "user"
       from pg_stat_activity
       where pid = any (pg_blocking_pids($1))`,
      [rows[0]?.pid],
    )
    for (const blocker of blockers.rows) {
      if (performance.now() - (toldAt.get(blocker.pid) ?? Number.NEGATIVE_INFINITY) < everyMs) continue
      toldAt.set(blocker.pid, performance.now())
      log.warn(blocker, 'migrations wait for another session')
    }
  }
  // The migration itself reports database errors.
  let telling: Promise<void> | null = null
  const timer = setInterval(() => {
    telling ??= tell()
      .catch(() => {})
      .finally(() => (telling = null))
  }, lookMs)
  return async () => {
    clearInterval(timer)
    await telling
    await db.end()
  }
}

/** Repeats work until it gets its locks. 55P03 lock not available; 40P01 a deadlock. */
async function untilLocked<T>(work: () => Promise<T>, onLocked: () => Promise<void>): Promise<T> {
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (!['55P03', '40P01'].includes(codeOf(error) ?? '')) throw error
      await onLocked()
    }
  }
}

async function giveWay(client: Client, log: Log, pauseMs: number): Promise<void> {
  await client.query('rollback')
  await client.query('select pg_advisory_unlock_all()')
  log.warn({ againInMs: pauseMs }, 'a table is in use: retrying the migration')
  await sleep(pauseMs)
}

interface Pending {
  dir: string
  schema: string
  log: Log
  applied: readonly string[]
  lockMs: number
  isLocked: () => Promise<void>
  upTo: number
}

async function applyPending(
  client: Client,
  { dir, schema, log, applied, lockMs, isLocked, upTo }: Pending,
): Promise<string[]> {
  // Loaded on demand: most starts have no migrations.
  const { runner } = await import('node-pg-migrate')
  const say = (message: string) => log.info({ detail: message.replace(/^[>\s-]+/, '') }, 'migrating')
  const startedAt = performance.now()
  // Applied by earlier tries that then met a locked table; the last error.
  const earlier: string[] = []
  let said: string[] = []
  const note = (message: string): void => void said.push(message)
  const run = (): ReturnType<typeof runner> =>
    runner({
      dbClient: client,
      dir,
      direction: 'up',
      migrationsTable,
      migrationsSchema: schema,
      // The remaining migrations.
      count: upTo - applied.length - earlier.length,
      singleTransaction: false,
      advisoryLockMode: 'wait',
      migrationLoaderStrategies: [{ extensions: ['.sql'], loader: loadUpOnly(lockMs) }],
      logger: { debug: () => {}, info: () => {}, warn: note, error: note },
    })
  const done = await untilLocked(run, async () => {
    said = []
    await isLocked()
    earlier.splice(0, earlier.length, ...(await appliedNames(client)).filter((name) => !applied.includes(name)))
  }).catch((error: unknown) => {
    said.forEach(say)
    // The library adds a stack to the message, which is no use to the operator.
    if (error instanceof Error) error.message = error.message.replace(/\n +at .*/gs, '')
    throw error
  })
  said.forEach(say)
  const names = [...earlier, ...done.map(({ name }) => name)]
  if (names.length > 0) log.info({ names, tookMs: Math.round(performance.now() - startedAt) }, 'database migrated')
  return names
}

type Strategy = NonNullable<RunnerOption['migrationLoaderStrategies']>[number]

/** The whole file is the migration; node-pg-migrate's own loader would cut it at a comment with "down migration". */
const loadUpOnly =
  (lockMs: number): Exclude<Strategy['loader'], string> =>
  async (paths) =>
    Promise.all(
      paths.map(async (path) => {
        const sql = await readFile(path, 'utf8')
        return {
          id: path,
          filePaths: [path],
          actions: {
            up: (pgm) => {
              // A concurrent index build blocks no one, and an aborted one stays, invalid.
              if (basename(path).includes('concurrently')) pgm.noTransaction()
              else pgm.sql(`set local lock_timeout = ${lockMs}`)
              pgm.sql(sql)
            },
            down: false,
          },
        }
      }),
    )

export const ourMigrations = async (): Promise<string[]> => (await namesIn(migrationsDir)).sort()

async function namesIn(dir: string): Promise<string[]> {
  const files = (await readdir(dir)).filter((name) => !name.startsWith('.'))
  const odd = files.find((name) => !/^\d{4}_[a-z0-9_]+\.sql$/.test(name))
  if (odd !== undefined) throw new Error(`${join(dir, odd)} is not named NNNN_what.sql`)
  return files.map((name) => basename(name, '.sql'))
}

export async function appliedNames(client: Queryable): Promise<string[]> {
  const table = await client.query<{ oid: string | null }>('select to_regclass($1)::text as oid', [migrationsTable])
  if (table.rows[0]?.oid === null) return []
  const { rows } = await client.query<{ name: string }>(`select name from ${migrationsTable} order by id`)
  return rows.map(({ name }) => name)
}

/** Refuses settings that could lose or garble messages later. */
async function checkServer(client: Client, isDisposable: boolean): Promise<void> {
  const { rows } = await client.query<{
    number: number
    version: string
    encoding: string
    hasCase: boolean
    lossy: string | null
  }>(
    `select current_setting('server_version_num')::int as number,
            current_setting('server_version') as version,
            current_setting('server_encoding') as encoding,
            lower('ÄЖΩ') = 'äжω' as "hasCase",
            string_agg(name, ' and ') filter (where setting = 'off') as lossy
       from pg_settings
      where name in ('fsync', 'full_page_writes', 'synchronous_commit')`,
  )
  const [server] = rows
  if (server === undefined) throw new Error('PostgreSQL does not report its settings')
  if (server.number < oldestVersion) {
    throw new Error(`PostgreSQL ${server.version} is too old: Heliogram needs 15 or newer`)
  }
  if (server.encoding !== 'UTF8') {
    throw new Error(
      `The database has the encoding ${server.encoding}; create one with "encoding 'UTF8' locale 'C.UTF-8' template template0"`,
    )
  }
  if (!server.hasCase) {
    throw new Error(
      `The database has a locale (lc_ctype) in which only a to z are letters, so searches would miss other letters; create one with "encoding 'UTF8' locale 'C.UTF-8' template template0"`,
    )
  }
  if (server.lossy !== null && !isDisposable) {
    throw new Error(`PostgreSQL would lose accepted messages in a crash: turn ${server.lossy} on`)
  }
}
