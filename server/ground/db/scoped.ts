/**
 * The second wall between accounts, as this process uses it (decision 0030). Within a request of a caller, what is asked through a walled
 * pool runs as a role that sees the rows of the caller's account alone. Role and account are set in the transaction of the statement
 * itself and end with it: a connection has nothing to remember and nothing to give back.
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

/** Runs `work`, and what it waits for, within an account: walled pools show nothing else to it. */
export function withinAccount<T>(accountId: string, work: () => T): T {
  return accounts.run(accountId, work)
}

/** Runs `work` in front of the wall: for counts of accounts of which the caller has been found to be above. */
export function outsideAccounts<T>(work: () => T): T {
  return accounts.exit(work)
}

/** The account within which the current work is done; undefined: none. */
export const currentAccount = (): string | undefined => accounts.getStore()

/** Makes a stream do its reading within an account, whoever asks it for more. */
export function readWithinAccount(accountId: string, stream: Readable): void {
  const read = stream._read.bind(stream)
  stream._read = (size) => withinAccount(accountId, () => read(size))
}

const roles = new WeakMap<Db, string>()

/** The walled face of a pool, or the pool itself where its user may not have a role for requests; that is logged. */
export async function openWall(db: Db, log: Log): Promise<Db> {
  const role = await ensureRowSecurity(db)
  if (role !== null) return wallOff(db, role)
  log.warn({}, 'row level security is off: the database user cannot have a role for requests')
  return db
}

/**
 * A pool's second face: the same connections, and within an account the wall in front of them. A statement on it goes by the extended
 * protocol, so it is one statement. Accounts have the connections by turns, and none has more than half of them: one that reads much makes
 * nobody wait but itself.
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

/** What pg's queries and connections have and its types do not tell. */
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
 * A statement with the entry before it, in one write and without a Sync between the two (PostgreSQL manual, §54.2.4): they are one
 * transaction, and where the entry fails the statement is skipped. It costs no round trip.
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
      // Where this fails the pool closes the connection, as it does after any statement that failed.
      prepared.add(connection)
      connection.bind({ statement: entry.name, values: this.#values })
      connection.execute({})
      return super.submit(connection)
    } finally {
      connection.stream.uncork()
    }
  }

  /** Called for each row; that of the entry is nobody's. */
  override handleDataRow(message: unknown): void {
    if (!this.#isEntering) super.handleDataRow(message)
  }

  override handleCommandComplete(message: unknown, connection: Wire): void {
    if (this.#isEntering) this.#isEntering = false
    else super.handleCommandComplete(message, connection)
  }
}
