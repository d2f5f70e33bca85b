/** Start errors, in words for the operator. */
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { createSecureContext } from 'node:tls'
import type { Config } from './config.ts'
import { openPool, type Connection, type Queryable } from '../ground/db/db.ts'
import { codeOf, isUnavailable } from '../ground/db/failure.ts'
import { DataDirLockedError } from '../ground/db/lock.ts'
import { isMasterKeyOf } from '../ground/sealing/data-keys.ts'
import {
  claimDatabase,
  findKeyFault,
  readKeyOfDatabase,
  type KeyOfDatabase,
} from '../ground/sealing/key-of-database.ts'
import { KeyFile, type MasterKeys } from '../ground/sealing/master-key.ts'
import { readPeers } from '../ground/sealing/peers.ts'
import { keyIdsOf, type Vault } from '../ground/sealing/vault.ts'

/** Printed without a stack. */
export class StartError extends Error {}

/** Explains errors of opening the database: an address, a password, a version, a full disk. */
export function explainDatabase(error: unknown, { databaseUrl, dataFolder }: Config): never {
  if (!(error instanceof Error) || error instanceof DataDirLockedError) throw error
  const what = databaseUrl ? 'database of DATABASE_URL' : `data folder ${dataFolder} (HELIOGRAM_DATA)`
  const reason = (databaseUrl ? reasonOfServer(error) : reasonOfFolder(error)) ?? (error.message || codeOf(error))
  throw new StartError(`The ${what} cannot be used: ${reason}`, { cause: error })
}

const isFile = 'there is a file in its place; name a folder, or a path that can be created'
const notOurs = 'this user may not write there; make it the owner of the folder, or name another one'
const folderReasons: Record<string, string> = {
  EEXIST: isFile,
  ENOTDIR: isFile,
  EACCES: notOurs,
  EPERM: notOurs,
  EROFS: 'it is on a read-only file system; name another one',
}

/** Why a folder could not be created or written; the system's message has paths that the operator never set. */
function reasonOfFolder(error: Error): string | null {
  if (!('syscall' in error) || (error.syscall !== 'mkdir' && error.syscall !== 'listen')) return null
  return folderReasons[codeOf(error) ?? ''] ?? null
}

/** Expands terse messages of a server or its driver. */
function reasonOfServer({ message }: Error): string | null {
  if (message.includes('client password must be a string'))
    return 'it requires a password, and the address has none; add it there, or in a file named by HELIOGRAM_DATABASE_PASSWORD_FILE'
  // PgBouncer's message, unless its ignore_startup_parameters allows settings to be lost.
  if (message.includes('unsupported startup parameter'))
    return `${message}; this is a pooler such as PgBouncer. Heliogram has its own pools: name PostgreSQL itself in DATABASE_URL`
  if (message.includes('permission denied for schema'))
    return `${message}; make its user the owner of the database, or create schemas for it (docs/operating.md, "A schema of its own")`
  return null
}

/** The same for an open database that fails during the start: a standby, a disk that has become full. */
export function explainStart(error: unknown, config: Config): never {
  if (error instanceof StartError || !isUnavailable(error)) throw error
  return explainDatabase(error, config)
}

/**
 * @throws StartError if there is no key file but the database was used with one: another key opens no secrets, and does not recognize
 * forgotten opted-out numbers. Call it before a file is created.
 */
export async function requireKeyFile(connection: Connection, { keyFile }: Config): Promise<void> {
  if (existsSync(keyFile)) return
  const pool = openPool(connection, { name: 'key file', max: 1 })
  try {
    const { rowCount } = await pool.query('select from accounts limit 1')
    // Checked again under the lock: a concurrent first start creates the file before the account.
    if (rowCount === 0 || existsSync(keyFile)) return
    const [peer] = await readPeers(pool)
    throw new StartError(
      `There is no key file ${keyFile}, and ` +
        (peer
          ? `${peer.name} runs on the same database with one. All processes need the same: put a copy of it here.`
          : 'the secrets in this database are encrypted with one. Correct HELIOGRAM_KEY_FILE, or restore the file from your copy; if it is lost for good, see "Lost master key" in docs/runbooks.md.'),
    )
  } finally {
    await pool.end()
  }
}

/** Creates a missing key file. @throws StartError if it cannot be read, or created. */
export function openKeyFile({ keyFile }: Config): KeyFile {
  try {
    return new KeyFile(keyFile)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new StartError(`The master key (HELIOGRAM_KEY_FILE) cannot be used: ${reason}`, { cause: error })
  }
}

/**
 * Makes this file's key the database's, if it has none yet. @throws StartError if it has another: secrets could not be opened, and
 * forgotten opted-out numbers would not be recognized. Then removes a file created by this start.
 */
export async function requireMasterKey(db: Queryable, keyFile: KeyFile, vault: Vault): Promise<void> {
  const keys = keyFile.reread()
  // Older versions did not store the key's id.
  const isOther = (await readKeyOfDatabase(db)) === null && !(await isMasterKeyOf(db, vault))
  const known = isOther ? null : await claimDatabase(db, keys)
  const fault = known ? findKeyFault(known, keys) : 'other'
  if (fault === null) return
  // Nothing can depend on a key file that is refused here.
  keyFile.discard()
  throw new StartError(await explainKey(db, keyFile.path, keys, known, fault))
}

async function explainKey(
  db: Queryable,
  path: string,
  keys: MasterKeys,
  known: KeyOfDatabase | null,
  fault: 'other' | 'stage',
): Promise<string> {
  const [current] = keyIdsOf(keys)
  const needed = known ? `, and the database was used with ${known.sealing.join(' and ')}` : ''
  const ids = ` (It encrypts with the key ${current}${needed}.)`
  const [peer] = await readPeers(db)
  const copy = peer
    ? ` ${peer.name} is running on it, or was a moment ago: a copy of its key file is the right one.`
    : ''
  return fault === 'stage'
    ? `The key file ${path} is not the one of this database any more: heliogram rotate-key has replaced the key.${ids} Put the file here that rotate-key wrote; if the rotation was interrupted, run it again with that file.${copy}`
    : `The key file ${path} is not the one of this database.${ids} With another key its secrets cannot be decrypted, and forgotten people who opted out would get messages. Restore the file from your copy, or set HELIOGRAM_KEY_FILE to it; if it is lost for good, see "Lost master key" in docs/runbooks.md.${copy}`
}

const [certificateVariable, privateKeyVariable] = ['HELIOGRAM_SMPP_SERVER_TLS_CERT', 'HELIOGRAM_SMPP_SERVER_TLS_KEY']

/** Reads the SMPP server's certificate. @throws StartError that names each invalid file. */
export function readCertificate(
  tls: { certFile: string; keyFile: string } | null,
): { cert: Buffer; key: Buffer } | null {
  if (!tls) return null
  const faults: string[] = []
  const read = <T>(variable: string, path: string, what: string, parse: (pem: Buffer) => T): [Buffer, T] | null => {
    try {
      const pem = readFileSync(path)
      return [pem, parse(pem)]
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      faults.push(`${variable} cannot be used: ${path} must be ${what} (${reason}).`)
      return null
    }
  }
  const parseCertificate = (pem: Buffer): X509Certificate => new X509Certificate(pem)
  const certificate = read(certificateVariable, tls.certFile, 'a certificate in PEM', parseCertificate)
  const privateKey = read(privateKeyVariable, tls.keyFile, 'a private key in PEM, without a password', createPrivateKey)
  if (!certificate || !privateKey) throw new StartError(faults.join('\n'))
  if (!certificate[1].checkPrivateKey(privateKey[1]))
    throw new StartError(
      `${privateKeyVariable} cannot be used: ${tls.keyFile} is not the private key of the certificate in ${tls.certFile}.`,
    )
  const pem = { cert: certificate[0], key: privateKey[0] }
  // OpenSSL refuses some that it can read, for example with short keys.
  read(certificateVariable, tls.certFile, 'a certificate for TLS', () => createSecureContext(pem))
  if (faults.length > 0) throw new StartError(faults.join('\n'))
  return pem
}
