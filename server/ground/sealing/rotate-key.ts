/**
 * A new master key, beside the running service (decision 0034):
 *
 *   made, `next` in the file ─▶ every process knows it ─▶ it seals, the other is `old` ─▶ all is sealed again ─▶ the old one leaves the file
 *
 * Where it is depends on the file alone, so that it goes on wherever it was killed.
 */
import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Db } from '../db/db.ts'
import { recordSealing } from './key-of-database.ts'
import { macSecretOf, writeKeys, type KeyFile, type MasterKeys } from './master-key.ts'
import { readPeers } from './peers.ts'
import { rewrapAll, type Rewrapped } from './rewrap.ts'
import { idOfKey, openVault } from './vault.ts'

export interface RotationContext {
  db: Db
  keyFile: KeyFile
  /** Reports progress. */
  say: (line: string) => void
  /** How long values sealed with the old key may still be written after a process uses the new one. Default 10 s. */
  quietMs?: number
}

/** Another rotation is running on the same database. */
export class RotationRunningError extends Error {}

// A process may seal, then wait for a connection (5 s at most) to write: twice that.
const quietAfterMs = 10_000
const pollMs = 500

/** Replaces the master key, or continues an interrupted rotation. @throws RotationRunningError. */
export async function rotateMasterKey(context: RotationContext): Promise<Rewrapped> {
  const { db } = context
  const holder = await db.connect()
  try {
    const { rows } = await holder.query<{ isOurs: boolean }>(
      `select pg_try_advisory_lock(hashtextextended('heliogram rotate-key', 0)) as "isOurs"`,
    )
    if (!rows[0]?.isOurs) throw new RotationRunningError('Another rotate-key is running on this database.')
    return await rotate(context)
  } finally {
    await holder.query(`select pg_advisory_unlock(hashtextextended('heliogram rotate-key', 0))`).catch(() => {})
    holder.release(true)
  }
}

async function rotate({ db, keyFile, say, quietMs = quietAfterMs }: RotationContext): Promise<Rewrapped> {
  const { path } = keyFile
  let keys = keyFile.reread()
  const write = (changed: MasterKeys): void => {
    writeKeys(path, changed)
    keys = keyFile.reread()
  }
  if (keys.next || keys.old.length > 0) say('Continuing the rotation that was interrupted.')
  else {
    // Stored before any other use of the key: values derived from the first key never change.
    write({ ...keys, next: randomBytes(32), mac: macSecretOf(keys) })
    say(`A new key is in ${path}, and not used yet.`)
  }
  const { next } = keys
  if (next) {
    await awaitNodes(db, path, say, (ids) => ids.includes(hexOf(next)))
    // Before the first process seals with it: later starts need both.
    await recordSealing(db, [next, keys.current, ...keys.old])
    write({ ...keys, current: next, next: null, old: [keys.current, ...keys.old] })
    say('New secrets are encrypted with it from now on.')
  }
  const newest = keys.current
  const isSealing = (ids: readonly string[]): boolean => ids[0] === hexOf(newest)
  await awaitNodes(db, path, say, isSealing)
  const vault = openVault(keyFile)
  const quietFrom = performance.now() + quietMs
  let done = await rewrapAll(db, vault, newest)
  let changed = done.changed
  say(`${changed} secrets were encrypted again.`)
  await sleep(Math.max(quietFrom - performance.now(), 0))
  await awaitTransactions(db, say)
  do {
    // A process started meanwhile with another file seals with another key.
    await awaitNodes(db, path, say, isSealing)
    done = await rewrapAll(db, vault, newest)
    changed += done.changed
  } while (done.changed + done.missed > 0)
  await recordSealing(db, [newest])
  write({ ...keys, old: [] })
  return { ...done, changed }
}

const hexOf = (key: Buffer): string => idOfKey(key).toString('hex')

/** Waits until all running processes have the right keys; reports late ones. */
async function awaitNodes(
  db: Db,
  path: string,
  say: RotationContext['say'],
  isRight: (ids: string[]) => boolean,
): Promise<void> {
  let said = ''
  const startedMs = performance.now()
  for (;;) {
    const peers = await readPeers(db)
    const late = peers.filter(({ masterKeys }) => !isRight(masterKeys)).map(({ name }) => name)
    if (late.length === 0) return
    // A process reads its file by itself; one on this machine is only a heartbeat behind.
    const line = `Waiting for ${late.join(', ')}: a process with its own key file needs a copy of ${path}.`
    if (line !== said && performance.now() - startedMs > 6000) say((said = line))
    await sleep(pollMs)
  }
}

/** Waits for the end of our transactions older than this moment, so that their sealed values are visible. */
async function awaitTransactions(db: Db, say: RotationContext['say']): Promise<void> {
  const { rows } = await db.query<{ now: string }>(`select clock_timestamp()::text as now`)
  for (let polls = 0; ; polls++) {
    const { rowCount } = await db.query(
      `select 1
       from pg_stat_activity
       where datname = current_database()
         and application_name like 'heliogram %'
         and pid <> pg_backend_pid()
         and xact_start < $1::timestamptz
       limit 1`,
      [rows[0]?.now],
    )
    if (rowCount === 0) return
    // An upload is a transaction until its file has arrived.
    if (polls === 10) say('Waiting for the end of a transaction that started earlier.')
    await sleep(pollMs)
  }
}
