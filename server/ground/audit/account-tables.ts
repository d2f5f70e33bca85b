/**
 * Data in a process's memory, so that a message costs no look-up: read whole at the start, then after changes in the audit log, tables of
 * accounts only for the changed ones. With ten thousand accounts a whole read is a good part of a second of work.
 */
import type { Db } from '../db/db.ts'
import { Refresher } from '../base/refresher.ts'

export interface AccountTable {
  /** Reads committed data of these accounts, or of all. */
  refresh(accountIds?: readonly string[]): Promise<void>
}

/** Replaces the cached data of these accounts, or of all. */
export function replaceCached<T>(
  kept: Map<string, T>,
  accountIds: readonly string[] | undefined,
  read: Iterable<readonly [accountId: string, T]>,
): void {
  if (!accountIds) kept.clear()
  for (const id of accountIds ?? []) kept.delete(id)
  for (const [id, one] of read) kept.set(id, one)
}

/** The delay of a change in every process. */
const everyMs = 1000
// Catches changes without an audit event, such as rows edited by hand, or by an older version of the program.
const wholeEveryMs = 60_000

interface Changes {
  /** Transactions from this one on may not have been seen. */
  next: string
  accountIds: string[]
  changedIn: string[]
}

/** Keeps the tables up to date. One per process. */
export class AccountTables {
  readonly #db: Db
  readonly #tables: AccountTable[]
  readonly #refresher = new Refresher(() => this.#read())
  #readFrom = '0'
  // Changes seen while an older transaction was running; they are found again after it.
  #seen: ReadonlyMap<string, string> = new Map()
  #wholeAt = -Infinity

  constructor(db: Db, tables: readonly AccountTable[]) {
    this.#db = db
    this.#tables = [...tables]
  }

  /** Reads a table, and keeps it up to date from now on. */
  async add(table: AccountTable): Promise<void> {
    this.#tables.push(table)
    await table.refresh()
  }

  start(): Promise<void> {
    return this.#refresher.start(everyMs)
  }

  refresh(): Promise<void> {
    return this.#refresher.now()
  }

  close(): Promise<void> {
    return this.#refresher.close()
  }

  async #read(): Promise<void> {
    const startedAt = performance.now()
    const isWhole = startedAt - this.#wholeAt >= wholeEveryMs
    // Later readers of the tables see all these changes.
    const { next, accountIds, changedIn } = await findChanges(this.#db, this.#readFrom)
    const changed = accountIds.filter((id, i) => this.#seen.get(id) !== changedIn[i])
    if (isWhole || changed.length > 0)
      await Promise.all(this.#tables.map((table) => table.refresh(isWhole ? undefined : changed)))
    if (isWhole) this.#wholeAt = startedAt
    this.#seen = new Map(accountIds.map((id, i) => [id, changedIn[i] ?? '']))
    this.#readFrom = next
  }
}

/**
 * Accounts changed by transactions from a given one on. By audit_chains_changed_in. Transactions from the future are those of the server
 * from which the database was restored.
 */
async function findChanges(db: Db, from: string): Promise<Changes> {
  const { rows } = await db.query<Changes>({
    name: 'find-changed-accounts',
    text: `
      select pg_snapshot_xmin(pg_current_snapshot())::text as next, coalesce(array_agg(account_id), '{}') as "accountIds",
        coalesce(array_agg(changed_in::text), '{}') as "changedIn"
      from audit_chains
      where changed_in >= $1::text::xid8
        and changed_in < pg_snapshot_xmax(pg_current_snapshot())`,
    values: [from],
  })
  return rows[0] ?? { next: from, accountIds: [], changedIn: [] }
}
