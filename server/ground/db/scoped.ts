/**
 * The second wall between accounts in this process (decision 0030). During a caller's request, statements on a walled pool run in a role
 * that sees only the caller's account. Role and account are set in the statement's own transaction and end with it: connections keep no
 * state.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { Readable } from 'node:stream'
import { Query } from 'pg'
import type { QueryConfig } from 'pg'
import type { Db } from './connection.ts'
import type { Log } from './log.ts'
import { accountSetting, beginAs, ensureRowSecurity } from './row-security.ts'
import { Shares } from './shares.ts'

const accounts = new AsyncLocalStorage<string>()

/** Runs `work`, with what it awaits, within an account: walled pools show only its rows. */
export function withinAccount<T>(accountId: string, work: () => T): T {
  return accounts.run(accountId, work)
}

/** Runs `work` outside the wall: for counts of accounts that were checked to be below the caller. */
export function outsideAccounts<T>(work: () => T): T {
  return accounts.exit(work)
}

/** The account of the current work; undefined: none. */
export const currentAccount = (): string | undefined => accounts.getStore()

/** Makes a stream read within an account, also if its consumer does not. */
export function readWithinAccount(accountId: string, stream: Readable): void {
  const read = stream._read.bind(stream)
  stream._read = (size) => withinAccount(accountId, () => read(size))
}

const roles = new WeakMap<Db, string>()

/** The walled face of a pool, or the pool itself, with a log line, if its user may not have a role for requests. */
export async function openWall(db: Db, log: Log): Promise<Db> {
  const role = await ensureRowSecurity(db)
  if (role !== null) return wallOff(db, role)
  log.warn({}, 'row level security is off: the database user cannot have a role for requests')
  return db
}

/**
 * A pool's second face: the same connections, with the wall within an account. Statements use the extended protocol, so each is one
 * statement. Accounts take turns for connections, and none has more than half of them: a busy account delays only itself.
 */
function wallOff(db: Db, role: string): Db {
  const shares = new Shares(db.options.max, Math.ceil(db.options.max / 2))
  const query = (statement: string | QueryConfig, values?: unknown[]): unknown => {
    const accountId = accounts.getStore()
    return accountId === undefined
      ? db.query(statement, values)
      : shares.run(accountId, () => db.query(new AccountQuery(role, accountId, statement, values) as never))
  }
  const walled = new Proxy(db, {
    get(target, name) {
      if (name === 'query') return query
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === 'function' ? (value.bind(target) as unknown) : value
    },
  })
  roles.set(walled, role)
  return walled
}

/** How a transaction begins on a pool. */
export function beginOf(db: Db): string {
  const role = roles.get(db)
  const accountId = role === undefined ? undefined : accounts.getStore()
  return role === undefined || accountId === undefined ? 'begin' : beginAs(role, accountId)
}

/** Missing from pg's types. */
interface Wire {
  stream: { cork(): void; uncork(): void }
  parse(message: { name: string; text: string }): void
  bind(message: { statement: string; values: string[] }): void
  execute(message: object): void
}

interface PgQuery {
  submit(connection: Wire): Error | null
  handleDataRow(message: unknown): void
  handleCommandComplete(message: unknown, connection: Wire): void
}

const BaseQuery = Query as unknown as new (config: object, values?: unknown[]) => PgQuery

const entry = {
  name: 'enter-account',
  text: `select set_config('role', $1, true), set_config('${accountSetting}', $2, true)`,
}

// Connections that have the entry prepared.
const prepared = new WeakSet<Wire>()

/**
 * A statement preceded by the entry, in one write and without a Sync between them (PostgreSQL manual, §54.2.4): they are one transaction,
 * and if the entry fails the statement is skipped. It costs no round trip.
 */
class AccountQuery extends BaseQuery {
  readonly #values: string[]
  #isEntering = true
  /** Read by the client, as from a plain configuration. */
  readonly query_timeout: number | undefined

  constructor(role: string, accountId: string, statement: string | QueryConfig, values?: unknown[]) {
    const config = typeof statement === 'string' ? { text: statement } : statement
    super({ ...config, queryMode: 'extended' }, values)
    this.query_timeout = (config as { query_timeout?: number }).query_timeout
    this.#values = [role, accountId]
  }

  override submit(connection: Wire): Error | null {
    connection.stream.cork()
    try {
      if (!prepared.has(connection)) connection.parse(entry)
      // If this fails the pool closes the connection, as after any failed statement.
      prepared.add(connection)
      connection.bind({ statement: entry.name, values: this.#values })
      connection.execute({})
      return super.submit(connection)
    } finally {
      connection.stream.uncork()
    }
  }

  /** Drops the entry's row. */
  override handleDataRow(message: unknown): void {
    if (!this.#isEntering) super.handleDataRow(message)
  }

  override handleCommandComplete(message: unknown, connection: Wire): void {
    if (this.#isEntering) this.#isEntering = false
    else super.handleCommandComplete(message, connection)
  }
}
