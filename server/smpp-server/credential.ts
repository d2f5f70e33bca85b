import type { ConcatenationMode, DefaultAlphabet } from '@heliogram/smpp'
import { randomInt } from 'node:crypto'
import type { Queryable, Tx } from '../ground/db/db.ts'
import { newId } from '../ground/base/ids.ts'
import type { PagePlace } from '../ground/http/page.ts'
import { listRows } from '../ground/http/search.ts'

export interface CredentialSettings {
  name: string
  enabled: boolean
  /** Networks that it may bind from; empty: any. */
  allowedCidrs: string[]
  sessionsMax: number
  /** Unanswered requests of a session, in each direction. */
  windowMax: number
  /** Segments a second over all its sessions. */
  pace: number
  defaultAlphabet: Exclude<DefaultAlphabet, 'gsm7-packed'>
  receivesReplies: boolean
  replyConcatenation: ConcatenationMode
}

/** Without the password. */
export interface CredentialRow extends CredentialSettings {
  accountId: string
  id: string
  systemId: string
  mode: 'live' | 'test'
  createdAt: Date
  updatedAt: Date
  lastBoundAt: Date | null
  /** Long messages that were not sent: parts were missing, or mixed with another message's. */
  incomplete: number
  incompleteAt: Date | null
  /** Bound sessions on all nodes. */
  sessions: number
}

export const credentialDefaults: Omit<CredentialSettings, 'name'> = {
  enabled: true,
  allowedCidrs: [],
  sessionsMax: 4,
  windowMax: 100,
  pace: 100,
  defaultAlphabet: 'gsm7',
  receivesReplies: false,
  replyConcatenation: 'udh8',
}

/** Per account: each costs a statement now and then, and no account has more programs. */
export const credentialsMax = 100

// Without lookalikes: people copy passwords from a screen.
const characters = 'abcdefghjkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789'
const letters = 'abcdefghjkmnpqrstuvwxyz23456789'
const random = (alphabet: string, length: number): string =>
  Array.from({ length }, () => alphabet[randomInt(alphabet.length)]).join('')

/** A system_id of 15 characters, the most that every client can write (SMPP 3.4 §5.2.1). */
export const newSystemId = (): string => `hg_${random(letters, 12)}`

/** A password of 8 characters, the most that every client can write (SMPP 3.4 §5.2.2): 46 bits, so attempts are delayed. */
export const newBindPassword = (): string => random(characters, 8)

/** Select list for `CredentialSettings`, from the given alias. */
export const settingColumns = (c: string): string => `
    ${c}.name, ${c}.enabled, ${c}.allowed_cidrs as "allowedCidrs", ${c}.sessions_max as "sessionsMax",
    ${c}.window_max as "windowMax", ${c}.pace, ${c}.default_alphabet as "defaultAlphabet",
    ${c}.receives_replies as "receivesReplies", ${c}.reply_concatenation as "replyConcatenation"`

// Counts sessions by smpp_sessions_credential; there are few.
const rowColumns = `
    t.account_id as "accountId", t.id, t.system_id as "systemId", t.mode, ${settingColumns('t')},
    t.created_at as "createdAt", t.updated_at as "updatedAt", t.last_bound_at as "lastBoundAt",
    t.incomplete, t.incomplete_at as "incompleteAt",
    (select count(*)
     from smpp_sessions s
     join nodes n on n.id = s.node_id and n.fenced_at is null
     where s.account_id = t.account_id and s.credential_id = t.id)::int as sessions`

/** An account's credentials from a position on, one more than `limit`. By primary key. */
export const listCredentials = (db: Queryable, accountId: string, ...place: PagePlace): Promise<CredentialRow[]> =>
  listRows(db, { table: 'smpp_credentials', columns: rowColumns, accountId }, ...place)

/** By primary key. */
export async function findCredential(db: Queryable, accountId: string, id: string): Promise<CredentialRow | null> {
  const { rows } = await db.query<CredentialRow>(
    `select ${rowColumns}
     from smpp_credentials t
     where t.account_id = $1 and t.id = $2`,
    [accountId, id],
  )
  return rows[0] ?? null
}

/** Returns the id; null if the account has the maximum. Two concurrent inserts may exceed it by one. */
export async function insertCredential(
  tx: Tx,
  accountId: string,
  credential: CredentialSettings & { systemId: string; passwordHash: string; mode: 'live' | 'test' },
): Promise<string | null> {
  const id = newId()
  const { rowCount } = await tx.query(
    `insert into smpp_credentials (account_id, id, system_id, password_hash, mode, name, enabled, allowed_cidrs, sessions_max,
       window_max, pace, default_alphabet, receives_replies, reply_concatenation)
     select $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14
     where (select count(*) from smpp_credentials where account_id = $1) < $15`,
    [
      accountId,
      id,
      credential.systemId,
      credential.passwordHash,
      credential.mode,
      ...valuesOf(credential),
      credentialsMax,
    ],
  )
  return rowCount === 1 ? id : null
}

/** Updates the given settings; false if there is none. Locks its row. */
export async function updateCredential(
  tx: Tx,
  accountId: string,
  id: string,
  changes: Partial<CredentialSettings>,
): Promise<boolean> {
  const { rowCount } = await tx.query(
    `update smpp_credentials
     set name = coalesce($3, name), enabled = coalesce($4, enabled), allowed_cidrs = coalesce($5, allowed_cidrs),
       sessions_max = coalesce($6, sessions_max), window_max = coalesce($7, window_max), pace = coalesce($8, pace),
       default_alphabet = coalesce($9, default_alphabet), receives_replies = coalesce($10, receives_replies),
       reply_concatenation = coalesce($11, reply_concatenation), updated_at = now()
     where account_id = $1 and id = $2`,
    [accountId, id, ...valuesOf(changes)],
  )
  return rowCount === 1
}

/** False if there is none. Locks its row. */
export async function replacePassword(tx: Tx, accountId: string, id: string, passwordHash: string): Promise<boolean> {
  const { rowCount } = await tx.query(
    `update smpp_credentials
     set password_hash = $3, updated_at = now()
     where account_id = $1 and id = $2`,
    [accountId, id, passwordHash],
  )
  return rowCount === 1
}

/** Deletes a credential with its pending deliveries; false if there is none. */
export async function deleteCredential(tx: Tx, accountId: string, id: string): Promise<boolean> {
  const { rowCount } = await tx.query('delete from smpp_credentials where account_id = $1 and id = $2', [accountId, id])
  return rowCount === 1
}

/** In the order of the statements above. */
function valuesOf(settings: Partial<CredentialSettings>): unknown[] {
  return [
    settings.name,
    settings.enabled,
    settings.allowedCidrs,
    settings.sessionsMax,
    settings.windowMax,
    settings.pace,
    settings.defaultAlphabet,
    settings.receivesReplies,
    settings.replyConcatenation,
  ]
}
