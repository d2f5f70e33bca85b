/**
 * What a process keeps in memory of accounts, so that a message costs no look-up: read whole at the start, and then of those accounts alone that have
 * changed something, of which their audit log tells. With ten thousand accounts the whole of it is a good part of a second of work.
 */
import type { Db } from '../db/db.ts'
import { Refresher } from '../base/refresher.ts'

/** One of the tables. */
export interface AccountTable {
  /** Reads what is committed by now; of these accounts alone, or of all. */
  refresh(accountIds?: readonly string[]): Promise<void>
}

/** Puts what was read in the place of what was kept of these accounts, or of all. */
export function replaceKept<T>(
  kept: Map<string, T>,
  accountIds: readonly string[] | undefined,
  read: Iterable<readonly [accountId: string, T]>,
): void {
  if (!accountIds) kept.clear()
  for (const id of accountIds ?? []) kept.delete(id)
  for (const [id, one] of read) kept.set(id, one)
}

/** Between a change and its effect in every process. */
const everyMs = 1000
// What no audit log tells of, such as a row that somebody changes by hand, or a program of an older version beside this one.
const wholeEveryMs = 60_000

interface Changes {
  /** Transactions from this one on may not have been seen. */
  next: string
  accountIds: string[]
  changedIn: string[]
}

/** Keeps the tables as the database has them. One a process. */
export class AccountTables {
  readonly #db: Db
  readonly #tables: readonly AccountTable[]
  readonly #refresher = new Refresher(() => this.#read(), everyMs)
  #readFrom = '0'
  // Changes that were seen while an older transaction was running, behind which they come again.
  #seen: ReadonlyMap<string, string> = new Map()
  #wholeAt = -Infinity

  constructor(db: Db, tables: readonly AccountTable[]) {
    this.#db = db
    this.#tables = tables
  }

  /** Reads everything, and begins to follow changes. */
  start(): Promise<void> {
    return this.#refresher.start()
  }

  /** Reads now what has changed. */
  refresh(): Promise<void> {
    return this.#refresher.now()
  }

  close(): Promise<void> {
    return this.#refresher.close()
  }

  async #read(): Promise<void> {
    const startedAt = performance.now()
    const isWhole = startedAt - this.#wholeAt >= wholeEveryMs
    // Whoever reads the tables after this sees all that it has told of.
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
 * Accounts that a transaction changed, from a given one on. By audit_chains_changed_in. Transactions that have not begun are those of the server
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
