export type { Connection, Db, Queryable, Tx } from './connection.ts'
import type { Connection, Db, Tx } from './connection.ts'
import { Pool } from 'pg'
import { configOf } from './address.ts'
import { isUnavailable } from './failure.ts'
import { asUrl, withoutSession } from './hosts.ts'
import { getTypeParser } from './parse.ts'
import { primaryOf } from './primary.ts'
import { lowerPriority } from './priority.ts'
import { readResults, type ResultReader } from './results.ts'
import { beginOf } from './scoped.ts'

export interface PoolOptions {
  /** Shown as `heliogram <name>` in pg_stat_activity, and in the log. */
  name: string
  /** The embedded server allows 100 connections in all. */
  max: number
  /** Idle connections kept open, so that a burst after a pause needs no handshakes. Default 0. */
  min?: number
  /** Longest wait for a statement before its socket is dropped. Default 30 s; 0 waits forever. */
  queryTimeoutMs?: number
  /** Longest wait for a free or a new connection. Default 5 s. */
  connectTimeoutMs?: number
  /**
   * The age at which a connection is replaced. Default a day: the pipeline's statements have other names each day, and PostgreSQL keeps a
   * connection's prepared statements, some 2 MB a day.
   */
  lifetimeSeconds?: number
  /** Settings of the sessions, such as plan_cache_mode. */
  settings?: Record<string, string>
  /** For bulk work: a server on this machine runs its statements at a lower priority. Default false. */
  isBulk?: boolean
  /** Sends statements without waiting for earlier responses (see pg's `pipeline`). Default false. */
  isPipelined?: boolean
  /** Called for a connection that broke while idle; the pool replaces it by itself. */
  onError?: (error: Error) => void
  /** Sees every result before its caller. */
  onResult?: ResultReader
}

// Settings that statements and their readers rely on, whatever the database or its user sets: times as ISO 8601, days and hours of UTC, and
// statements that see earlier commits. JIT compilation takes a hundred times as long as our statements, and PostgreSQL before 18
// overestimates each of the pipeline's: it adds 1e10 for a disabled plan that it uses anyway.
const sessionSettings = {
  datestyle: 'ISO',
  timezone: 'UTC',
  default_transaction_isolation: 'read committed',
  jit: 'off',
}

/**
 * Opens a pool. Connects on demand, so a missing server fails the first statement. Slow statements are never cancelled: a cancel during a
 * synchronous commit reports success for a row that may be lost. The socket is dropped instead, and the outcome is unknown.
 */
export function openPool(connection: Connection, options: PoolOptions): Db {
  const { address, sessionOptions } = readAddress(connection)
  const primary = primaryOf(address.connectionString)
  const pool = new Pool({
    ...configOf(address),
    types: { getTypeParser },
    application_name: `heliogram ${options.name}`,
    max: options.max,
    min: options.min ?? 0,
    // Longer than a minute, after which sweeps use the same connections again: a new one plans all their statements.
    idleTimeoutMillis: 120_000,
    maxLifetimeSeconds: options.lifetimeSeconds ?? 86_400,
    connectionTimeoutMillis: options.connectTimeoutMs ?? 5_000,
    query_timeout: options.queryTimeoutMs ?? 30_000,
    // A frozen process must not hold row locks against its peers: the server ends its transaction.
    idle_in_transaction_session_timeout: 30_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    // The last of repeated settings applies.
    options: [
      sessionOptions,
      ...Object.entries({ ...sessionSettings, ...options.settings }).map(
        ([name, value]) => `-c ${name}=${value.replaceAll(' ', '\\ ')}`,
      ),
    ].join(' '),
    ...(options.isPipelined ? { pipeline: true } : {}),
  })
  // Without a listener a broken idle connection would end the process.
  pool.on('error', (error) => options.onError?.(error))
  const { onResult } = options
  pool.on('connect', (connection) => {
    // So would a new one whose server dies at that moment: both events come before the caller can listen.
    connection.on('error', () => {})
    refuseLonelyCommits(connection)
    if (options.isBulk) lowerPriority(connection)
    if (primary) onReadOnly(connection, () => primary.doubt())
    if (onResult) readResults(connection, onResult)
  })
  return pool
}

/** Separates an address from its session settings and name, which pg would prefer to ours. */
function readAddress(connection: Connection): { address: Connection; sessionOptions: string } {
  if (connection.connectionString === undefined) return { address: connection, sessionOptions: '' }
  const address = connection.connectionString
  const sessionOptions = new URL(asUrl(address)).searchParams.get('options') ?? ''
  return { address: { ...connection, connectionString: withoutSession(address) }, sessionOptions }
}

/**
 * Runs `work` between begin and commit on one connection and returns its result; errors roll back and are rethrown. An error that
 * `isUnavailable` may have come after the server committed: the outcome is unknown.
 */
export async function inTransaction<T>(db: Db, work: (tx: Tx) => Promise<T>): Promise<T> {
  const tx = await db.connect()
  let isBroken = false
  const markBroken = () => {
    isBroken = true
  }
  // A connection that breaks between two statements reports it only here.
  tx.on('error', markBroken)
  const waiting: (() => void)[] = []
  afterCommits.set(tx, waiting)
  try {
    await tx.query(beginOf(db))
    const result = await work(tx)
    await commit(tx)
    for (const done of waiting) done()
    return result
  } catch (error) {
    // After a timeout the connection may be busy: a rollback would wait behind the hanging statement.
    if (isUnavailable(error)) isBroken = true
    else await tx.query('rollback').catch(markBroken)
    throw error
  } finally {
    tx.removeListener('error', markBroken)
    afterCommits.delete(tx)
    tx.release(isBroken)
  }
}

const afterCommits = new WeakMap<Tx, (() => void)[]>()

/** Runs after the commit; not if it failed or is uncertain. */
export function afterCommit(tx: Tx, done: () => void): void {
  const waiting = afterCommits.get(tx)
  if (!waiting) throw new Error('a connection without a transaction')
  waiting.push(done)
}

/** @throws if PostgreSQL acknowledges without a durable commit. */
async function commit(tx: Tx): Promise<void> {
  const { command } = await tx.query('commit')
  // The commit of a failed transaction is answered with ROLLBACK and no error.
  if (command !== 'COMMIT') throw new Error('The transaction was rolled back: a statement in it failed and was caught')
}

/** Missing from pg's types. */
interface Asking {
  connection: { on(event: 'errorMessage', listener: (error: { code?: string }) => void): void }
  _getActiveQuery(): { handleReadyForQuery(wire: unknown): void; handleError(error: Error, wire: unknown): void } | null
}

/** Reports any response that says the server is read-only. */
function onReadOnly(connection: Tx, tell: () => void): void {
  ;(connection as unknown as Asking).connection.on('errorMessage', ({ code }) => {
    if (code === '25006') tell()
  })
}

/**
 * Fails statements and commits that PostgreSQL reports as successful although their wait for the standby was interrupted: a failover may
 * lose the row. The warning has no SQLSTATE of its own, and its text is translated; it comes before ReadyForQuery, which ends the
 * statement.
 */
function refuseLonelyCommits(connection: Tx): void {
  connection.on('notice', ({ routine, message }) => {
    if (routine !== 'SyncRepWaitForLSN') return
    const query = (connection as unknown as Asking)._getActiveQuery()
    if (query) query.handleReadyForQuery = (wire) => query.handleError(new CommitUnknownError(message), wire)
  })
}

/** The server cannot guarantee that the commit survives; `isUnavailable` holds. */
class CommitUnknownError extends Error {
  /** SQLSTATE 08007, transaction resolution unknown. */
  readonly code = '08007'
}
