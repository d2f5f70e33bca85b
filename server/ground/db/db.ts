export type { Connection, Db, Queryable, Tx } from './connection.ts'
import type { Connection, Db, Tx } from './connection.ts'
import { Pool } from 'pg'
import { configOf } from './address.ts'
import { isUnavailable } from './failure.ts'
import { asUrl, withoutSession } from './hosts.ts'
import { getTypeParser } from './parse.ts'
import { primaryOf } from './primary.ts'
import { readResults, type ResultReader } from './results.ts'
import { beginOf } from './scoped.ts'

/** What a pool may use and how it names itself. */
export interface PoolOptions {
  /** Shown as `heliogram <name>` in pg_stat_activity, and in the log. */
  name: string
  /** Most connections at a time; the embedded server takes 100 in all. */
  max: number
  /** Connections kept open when idle, so that a burst after a pause does not begin with handshakes. Default 0. */
  min?: number
  /** Longest wait for a statement before its socket is dropped. Default 30 s; 0 waits for ever. */
  queryTimeoutMs?: number
  /** Longest wait for a free or a new connection. Default 5 s. */
  connectTimeoutMs?: number
  /**
   * A connection that is so old is replaced. Default a day: the pipeline's statements have other names each day, and PostgreSQL keeps what a
   * connection has prepared, some 2 MB a day, until its end.
   */
  lifetimeSeconds?: number
  /** Settings of the sessions, such as plan_cache_mode. */
  settings?: Record<string, string>
  /** Sends statements without waiting for the answer of the one before (see pg's `pipeline`). Default false. */
  isPipelined?: boolean
  /** Told of a connection that broke while idle; the pool replaces it by itself. */
  onError?: (error: Error) => void
  /** Sees every result before whoever asked does. */
  onResult?: ResultReader
}

// What statements and their readers rely on, whatever the database or its user has for other programs: times as ISO 8601, days and hours
// of UTC, and a statement that sees what was committed before it. Compiling one of ours takes a hundred times as long as running it, and
// PostgreSQL before 18 takes each of the pipeline for expensive: it puts 1e10 on what a plan should not have and has all the same.
const sessionSettings = {
  datestyle: 'ISO',
  timezone: 'UTC',
  default_transaction_isolation: 'read committed',
  jit: 'off',
}

/**
 * Opens a pool. Connections are made when first needed, so an absent server shows at the first statement.
 * A statement that takes too long is never cancelled: a cancel during a synchronous commit reports success for a row that
 * may be lost. Its socket is dropped instead, and its outcome is unknown.
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
    idleTimeoutMillis: 30_000,
    maxLifetimeSeconds: options.lifetimeSeconds ?? 86_400,
    connectionTimeoutMillis: options.connectTimeoutMs ?? 5_000,
    query_timeout: options.queryTimeoutMs ?? 30_000,
    // A frozen process must not hold row locks against its peers: the server ends its transaction.
    idle_in_transaction_session_timeout: 30_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    // Of one that is set twice the last counts.
    options: [
      sessionOptions,
      ...Object.entries({ ...sessionSettings, ...options.settings }).map(
        ([name, value]) => `-c ${name}=${value.replaceAll(' ', '\\ ')}`,
      ),
    ].join(' '),
    ...(options.isPipelined ? { pipeline: true } : {}),
  })
  // Without a listener an idle connection that breaks would end the process.
  pool.on('error', (error) => options.onError?.(error))
  const { onResult } = options
  pool.on('connect', (connection) => {
    // So would a new one whose server dies as it is ready: it says both at once, before who asked for it can listen.
    connection.on('error', () => {})
    refuseLonelyCommits(connection)
    if (primary) onReadOnly(connection, () => primary.doubt())
    if (onResult) readResults(connection, onResult)
  })
  return pool
}

/** An address without what it says of its sessions, which pg would take in the place of what we say: their settings, and their name. */
function readAddress(connection: Connection): { address: Connection; sessionOptions: string } {
  if (connection.connectionString === undefined) return { address: connection, sessionOptions: '' }
  const address = connection.connectionString
  const sessionOptions = new URL(asUrl(address)).searchParams.get('options') ?? ''
  return { address: { ...connection, connectionString: withoutSession(address) }, sessionOptions }
}

/**
 * Runs `work` between begin and commit on one connection and returns its result; any error rolls back and is thrown on.
 * An error that `isUnavailable` may have come after the server committed: the caller must treat the outcome as unknown.
 */
export async function inTransaction<T>(db: Db, work: (tx: Tx) => Promise<T>): Promise<T> {
  const tx = await db.connect()
  let isBroken = false
  const markBroken = () => {
    isBroken = true
  }
  // A connection that breaks between two statements says so here and nowhere else.
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
    // After a timeout the connection may still be busy: a rollback would wait behind the statement that hangs.
    if (isUnavailable(error)) isBroken = true
    else await tx.query('rollback').catch(markBroken)
    throw error
  } finally {
    tx.removeListener('error', markBroken)
    afterCommits.delete(tx)
    tx.release(isBroken)
  }
}

/** What waits for the commit of a running transaction. */
const afterCommits = new WeakMap<Tx, (() => void)[]>()

/** Does something, such as counting, once the transaction has committed; where it has not, or nobody knows, it is not done. */
export function afterCommit(tx: Tx, done: () => void): void {
  const waiting = afterCommits.get(tx)
  if (!waiting) throw new Error('a connection without a transaction')
  waiting.push(done)
}

/** Commits, and throws where PostgreSQL answers "COMMIT" without having made the transaction durable. */
async function commit(tx: Tx): Promise<void> {
  const { command } = await tx.query('commit')
  // The commit of a failed transaction is answered with ROLLBACK and no error.
  if (command !== 'COMMIT') throw new Error('The transaction was rolled back: a statement in it failed and was caught')
}

/** What pg has and its types do not tell. */
interface Asking {
  connection: { on(event: 'errorMessage', listener: (error: { code?: string }) => void): void }
  _getActiveQuery(): { handleReadyForQuery(wire: unknown): void; handleError(error: Error, wire: unknown): void } | null
}

/** Tells when a server answers that it takes no writes, whoever asked. */
function onReadOnly(connection: Tx, tell: () => void): void {
  ;(connection as unknown as Asking).connection.on('errorMessage', ({ code }) => {
    if (code === '25006') tell()
  })
}

/**
 * Makes a statement fail, or a commit, that PostgreSQL answers with success though somebody ended its wait for the standby: the row may be lost by
 * a failover. The warning has no SQLSTATE of its own, and its text is translated; it comes before ReadyForQuery, with which a statement is over.
 */
function refuseLonelyCommits(connection: Tx): void {
  connection.on('notice', ({ routine, message }) => {
    if (routine !== 'SyncRepWaitForLSN') return
    const query = (connection as unknown as Asking)._getActiveQuery()
    if (query) query.handleReadyForQuery = (wire) => query.handleError(new CommitUnknownError(message), wire)
  })
}

/** The server answered, but cannot say that the commit survives; `isUnavailable` holds for it. */
class CommitUnknownError extends Error {
  /** SQLSTATE 08007, transaction resolution unknown. */
  readonly code = '08007'
}
