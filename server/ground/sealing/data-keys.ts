/** Data keys: each account has its own, wrapped by the master key, so that destroying 32 bytes destroys all its sealed values. Decision 0032. */
import { createSecretKey, randomBytes, type KeyObject } from 'node:crypto'
import type { Db, Queryable, Tx } from '../db/db.ts'
import type { Vault } from './vault.ts'

export interface DataKey {
  /** From 1; 65,535 at most. */
  version: number
  key: KeyObject
}

/** An account's keys, possibly a moment old. */
export interface AccountKeys {
  /** By version; without destroyed ones, and those wrapped by another master key. */
  keys: ReadonlyMap<number, KeyObject>
  /** Null: none yet, or all destroyed. */
  currentVersion: number | null
  /** 0: it never had one. */
  lastVersion: number
  readAtMs: number
  /** Read outside a transaction that could be rolled back with the key: safe for sealing. */
  isCommitted: boolean
}

interface KeyRow {
  accountId: string
  version: number
  wrapped: Buffer | null
  isCurrent: boolean
}

// How long other processes may use a destroyed key.
const staleMs = 5000
// Some 500 bytes each.
const accountsMax = 10_000

const purposeOf = (accountId: string, version: number): string => `data_keys.wrapped|${accountId}|${version}`
const makeKey = (vault: Vault, accountId: string, version: number): Buffer =>
  vault.seal(randomBytes(32).toString('base64'), purposeOf(accountId, version))

/** This process's unwrapped data keys. One per process; drops the least recently used accounts first. */
export class DataKeys {
  readonly #vault: Vault
  readonly #kept = new Map<string, AccountKeys>()

  constructor(vault: Vault) {
    this.#vault = vault
  }

  /**
   * Keys of accounts; by primary key prefix if unknown, older than 5 s, or without a wanted version, which another process may have made
   * since.
   */
  read(db: Queryable, wanted: ReadonlyMap<string, ReadonlySet<number>>): Promise<Map<string, AccountKeys>> {
    return this.#read(db, wanted, false)
  }

  async #read(
    db: Queryable,
    wanted: ReadonlyMap<string, ReadonlySet<number>>,
    isCommitted: boolean,
  ): Promise<Map<string, AccountKeys>> {
    const found = new Map<string, AccountKeys>()
    const missing: string[] = []
    const freshFrom = performance.now() - staleMs
    for (const [accountId, versions] of wanted) {
      const kept = this.#kept.get(accountId)
      const isFresh = kept && kept.readAtMs > freshFrom && [...versions].every((version) => kept.keys.has(version))
      if (isFresh && (kept.isCommitted || !isCommitted)) found.set(accountId, kept)
      else missing.push(accountId)
    }
    if (missing.length > 0) for (const [id, keys] of await this.#load(db, missing, isCommitted)) found.set(id, keys)
    return found
  }

  /**
   * The keys for sealing, created if missing. On a pool: values sealed with a key that is rolled back could not be opened.
   * @throws if a key was wrapped by another master key.
   */
  async readCurrent(db: Db, accountIds: readonly string[]): Promise<Map<string, DataKey>> {
    const wanted = new Map(accountIds.map((id) => [id, new Set<number>()]))
    const found = await this.#read(db, wanted, true)
    const without = [...found].filter(([, { currentVersion }]) => currentVersion === null)
    if (without.length > 0) {
      const made = without.map(([id, { lastVersion }]) => ({ id, version: lastVersion + 1 }))
      await db.query(
        `insert into data_keys (account_id, version, wrapped)
         select * from unnest($1::uuid[], $2::int[], $3::bytea[])
         on conflict do nothing`,
        [
          made.map(({ id }) => id),
          made.map(({ version }) => version),
          made.map(({ id, version }) => makeKey(this.#vault, id, version)),
        ],
      )
      const ids = made.map(({ id }) => id)
      for (const [id, keys] of await this.#load(db, ids, true)) found.set(id, keys)
    }
    return new Map([...found].map(([id, keys]) => [id, currentOf(id, keys)]))
  }

  async #load(db: Queryable, accountIds: readonly string[], isCommitted: boolean): Promise<Map<string, AccountKeys>> {
    const readAtMs = performance.now()
    const { rows } = await db.query<KeyRow>({
      name: 'read-data-keys',
      text: `
        select account_id as "accountId", version, wrapped, retired_at is null as "isCurrent"
        from data_keys
        where account_id = any ($1::uuid[])
        order by version`,
      values: [accountIds],
    })
    const loaded = new Map(
      accountIds.map((id) => {
        const own = rows.filter(({ accountId }) => accountId === id)
        const keys = own.flatMap((row): [number, KeyObject][] => {
          const key = this.#unwrap(row)
          return key ? [[row.version, key]] : []
        })
        const currentVersion = own.find(({ isCurrent }) => isCurrent)?.version ?? null
        return [
          id,
          { keys: new Map(keys), currentVersion, lastVersion: own.at(-1)?.version ?? 0, readAtMs, isCommitted },
        ]
      }),
    )
    for (const [id, keys] of loaded) this.#keep(id, keys)
    return loaded
  }

  #unwrap({ accountId, version, wrapped }: KeyRow): KeyObject | null {
    if (!wrapped) return null
    try {
      return createSecretKey(Buffer.from(this.#vault.open(wrapped, purposeOf(accountId, version)), 'base64'))
    } catch {
      // Wrapped by another master key: sealing reports it, and its sealed values are shown as unreadable.
      return null
    }
  }

  #keep(accountId: string, keys: AccountKeys): void {
    this.#kept.delete(accountId)
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size < accountsMax) break
      this.#kept.delete(oldest)
    }
    this.#kept.set(accountId, keys)
  }
}

function currentOf(accountId: string, { keys, currentVersion }: AccountKeys): DataKey {
  const key = currentVersion === null ? undefined : keys.get(currentVersion)
  if (currentVersion === null || !key) throw new Error(`the data key of account ${accountId} cannot be unwrapped`)
  return { version: currentVersion, key }
}

/** Whether the master key wrapped the newest data key; true if there is none. Reads one row. */
export async function isMasterKeyOf(db: Queryable, vault: Vault): Promise<boolean> {
  const { rows } = await db.query<{ accountId: string; version: number; wrapped: Buffer }>(
    `select account_id as "accountId", version, wrapped
     from data_keys
     where wrapped is not null
     order by created_at desc
     limit 1`,
  )
  const newest = rows[0]
  if (!newest) return true
  try {
    vault.open(newest.wrapped, purposeOf(newest.accountId, newest.version))
    return true
  } catch {
    return false
  }
}

// Every process unwraps all keys of an account, and each retired one needs a sweep of all its data.
const retiredMax = 10

/**
 * Retires the account's data key and creates the next one; every process seals with it 5 s later. Locks the account. False, without a
 * change, if too many keys are still being replaced.
 */
export async function rotateDataKey(tx: Tx, vault: Vault, accountId: string): Promise<boolean> {
  await tx.query(`select 1 from accounts where id = $1 for update`, [accountId])
  if ((await readKeyState(tx, accountId)).retired >= retiredMax) return false
  // Its contacts in clear have been sealed with it; from now on the sweep looks for those it still seals.
  await tx.query(
    `update data_keys
     set retired_at = now(), contacts_campaign_id = null, contacts_swept_to = null, contacts_swept_at = null
     where account_id = $1 and retired_at is null`,
    [accountId],
  )
  const { rows } = await tx.query<{ version: number }>(
    `select coalesce(max(version), 0) + 1 as version from data_keys where account_id = $1`,
    [accountId],
  )
  const version = rows[0]?.version ?? 1
  // An account that sealed its first text meanwhile has created a key itself.
  await tx.query(`insert into data_keys (account_id, version, wrapped) values ($1, $2, $3) on conflict do nothing`, [
    accountId,
    version,
    makeKey(vault, accountId, version),
  ])
  return true
}

/**
 * Destroys an account's data keys: no one can read its sealed values any more, here or in later backups. Backups with the keys stay
 * readable until the master key is replaced. Other processes notice within 5 s.
 */
export async function destroyDataKeys(tx: Queryable, accountId: string): Promise<void> {
  await tx.query(
    `update data_keys
     set wrapped = null, retired_at = coalesce(retired_at, now())
     where account_id = $1`,
    [accountId],
  )
}

export interface KeyState {
  /** Null: nothing has been sealed yet. */
  version: number | null
  createdAt: Date | null
  /** Retired keys that still seal values. */
  retired: number
  /** Progress on the oldest of them: a message's id. */
  sweptTo: string | null
}

/** By primary key prefix. */
export async function readKeyState(db: Queryable, accountId: string): Promise<KeyState> {
  const { rows } = await db.query<KeyState>({
    name: 'read-key-state',
    text: `
      select
        max(version) filter (where retired_at is null) as version,
        max(created_at) filter (where retired_at is null) as "createdAt",
        count(*) filter (where retired_at is not null and wrapped is not null)::int as retired,
        (array_agg(swept_to order by version) filter (where retired_at is not null and wrapped is not null))[1] as "sweptTo"
      from data_keys
      where account_id = $1`,
    values: [accountId],
  })
  return rows[0] ?? { version: null, createdAt: null, retired: 0, sweptTo: null }
}
