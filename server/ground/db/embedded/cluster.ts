import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chown, mkdir, open, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Account, Place } from './place.ts'

/** A database folder of one PostgreSQL major, and the files beside it. */
export interface Cluster {
  /** PostgreSQL's own data folder. */
  data: string
  /** The server's output; a new one begins above `logBytesMax`. */
  log: string
  socketDir: string
  account: Account | undefined
  password: string
}

/** The one role and the one database of the embedded server. */
export const owner = 'heliogram'

/** A crash loop must not fill the disk; one older log is kept. */
const logBytesMax = 4 * 2 ** 20

/** The name contains the format, so that a newer PostgreSQL never opens an older database. */
export function clusterFolder(major: number): string {
  return `pg${major}`
}

/** Opens the cluster of a place, or creates it. Refuses one of another PostgreSQL major. */
export async function openCluster(place: Place, major: number, bin: () => Promise<string>): Promise<Cluster> {
  const data = join(place.path, clusterFolder(major))
  const passwordFile = `${data}.password`
  const log = `${data}.log`
  const others = (await readdir(place.path)).filter((name) => /^pg\d+$/.test(name) && name !== clusterFolder(major))
  if (!(await exists(data))) {
    if (others.length > 0) {
      throw new Error(
        `${place.path} contains a database of PostgreSQL ${others.join(', ').replaceAll('pg', '')}; this version of Heliogram uses ${major}. Start the version that wrote it, make a backup, and restore that with this one.`,
      )
    }
    await createCluster(data, passwordFile, place.account, await bin())
  }
  await checkMajor(data, major)
  const password = (await readFile(passwordFile, 'utf8')).trim()
  return { data, log, socketDir: place.socketDir, account: place.account, password }
}

/** Runs initdb on a draft and renames it, so that a crash leaves a whole database or none. */
async function createCluster(
  data: string,
  passwordFile: string,
  account: Account | undefined,
  bin: string,
): Promise<void> {
  const draft = `${data}.new`
  const draftPassword = `${draft}.password`
  await rm(draft, { recursive: true, force: true })
  await rm(draftPassword, { force: true })
  await mkdir(draft, { mode: 0o700 })
  const password = randomBytes(24).toString('base64url')
  await writeFile(draftPassword, password, { mode: 0o600 })
  if (account !== undefined) {
    await chown(draft, account.uid, account.gid)
    await chown(draftPassword, account.uid, account.gid)
  }
  const initdb = promisify(execFile)
  // Independent of this machine's locales: they differ between machines and change under an index with libc.
  await initdb(
    join(bin, 'bin/initdb'),
    [
      `--pgdata=${draft}`,
      `--username=${owner}`,
      `--pwfile=${draftPassword}`,
      '--auth=scram-sha-256',
      '--encoding=UTF8',
      '--locale=C',
      '--locale-provider=builtin',
      '--builtin-locale=C.UTF-8',
      '--data-checksums',
      '--no-instructions',
    ],
    { ...account, cwd: '/', env: serverEnvironment },
  ).catch((error: unknown) => {
    throw new Error(`initdb failed in ${draft}: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    })
  })
  if (account !== undefined) await chown(draftPassword, 0, 0)
  // The password first: a database without it is useless, a password without a database is overwritten.
  await rename(draftPassword, passwordFile)
  await rename(draft, data)
}

/** PostgreSQL gets none of our environment, where PGDATA or PGOPTIONS would change its behaviour. */
export const serverEnvironment = { LC_ALL: 'C', TZ: 'UTC' }

async function checkMajor(data: string, major: number): Promise<void> {
  const found = await readFile(join(data, 'PG_VERSION'), 'utf8').catch((error: unknown) => {
    throw new Error(`Cannot read the database folder ${data}. Run Heliogram as the account that created it.`, {
      cause: error,
    })
  })
  if (Number(found) !== major) throw new Error(`${data} was written by PostgreSQL ${found.trim()}, not ${major}`)
}

/** Opens the log for the server to inherit, and returns the offset of its new lines. */
export async function openLog(path: string): Promise<{ fd: number; start: number; close: () => Promise<void> }> {
  const size = await stat(path).then(
    (found) => found.size,
    () => 0,
  )
  if (size > logBytesMax) await rename(path, `${path}.old`)
  const file = await open(path, 'a', 0o600)
  return { fd: file.fd, start: size > logBytesMax ? 0 : size, close: () => file.close() }
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  )
}
