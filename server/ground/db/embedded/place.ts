import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmod, chown, lstat, mkdir, readFile, realpath, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { codeOf } from '../failure.ts'

/** The account for PostgreSQL, which refuses to run as root. */
export interface Account {
  uid: number
  gid: number
}

/** Files and account of the embedded server. */
export interface Place {
  /** Holds `pg18/` (the database), its password and log, and `pg/` (a copy of the binaries). */
  path: string
  /** Short, private folder of the unix socket. */
  socketDir: string
  /** Undefined: this process's account. */
  account: Account | undefined
}

/** A file in the data folder with the path of the folder used instead, if an unprivileged account cannot reach this one. */
export const pointer = 'postgres-location'

/** Creates a missing data folder that only its owner can list, and returns its real path. */
export async function prepareDataDir(dataDir: string): Promise<string> {
  // As root, PostgreSQL runs as another account, which must be able to pass through to its own folder.
  if (await makeFolder(dataDir)) {
    await chmod(dataDir, isRoot() ? 0o711 : 0o700)
    // The folder may be in a checkout, and must not be committed: it holds keys and passwords.
    await writeFile(join(dataDir, '.gitignore'), '*\n')
  }
  return realpath(dataDir)
}

/**
 * Creates a folder and its parents; returns whether it was missing. Node.js's recursive mkdir reports a read-only file system as a missing
 * folder, and loops forever if a folder cannot be created in an existing one, as in /proc.
 */
async function makeFolder(path: string): Promise<boolean> {
  const make = (): Promise<boolean> =>
    mkdir(path).then(
      () => true,
      async (error: unknown) => {
        if (codeOf(error) === 'EEXIST' && (await stat(path)).isDirectory()) return false
        throw error
      },
    )
  return make().catch(async (error: unknown) => {
    if (codeOf(error) !== 'ENOENT' || dirname(path) === path) throw error
    await makeFolder(dirname(path))
    return make()
  })
}

/**
 * Chooses the place of a data folder's database. Not as root: inside. As root: inside, owned by the account `heliogram` or `postgres`, else
 * nobody; if that account cannot reach the data folder (under /root), in `/var/lib/heliogram/<hash of the path>`, which is recorded in the
 * data folder.
 */
export async function choosePlace(dataDir: string, folder: string): Promise<Place> {
  if (!isRoot()) return { path: dataDir, socketDir: socketDirOf(dataDir), account: undefined }
  const elsewhere = join('/var/lib/heliogram', hashOf(dataDir))
  const recorded = await readFile(join(dataDir, pointer), 'utf8').then(
    (text) => text.trim(),
    () => undefined,
  )
  if (recorded !== undefined && recorded !== elsewhere) {
    throw new Error(
      `The data folder ${dataDir} was moved or copied: its database is in ${recorded}. Move the folder back, or stop ` +
        `Heliogram, run "mv ${recorded} ${elsewhere}" and delete ${join(dataDir, pointer)}.`,
    )
  }
  const path = recorded ?? dataDir
  const owner = await ownerOf(join(path, folder))
  const account = owner ?? (await unprivilegedUser()).account
  if (await canReach(account, path)) return { path, socketDir: socketDirOf(path), account }
  if (owner !== undefined) {
    throw new Error(`The database in ${path} belongs to uid ${owner.uid}, which can no longer enter that folder`)
  }
  await mkdir(elsewhere, { recursive: true })
  await chmod('/var/lib/heliogram', 0o711)
  await chmod(elsewhere, 0o711)
  await writeFile(join(dataDir, pointer), `${elsewhere}\n`)
  const known = await ownerOf(join(elsewhere, folder))
  return { path: elsewhere, socketDir: socketDirOf(elsewhere), account: known ?? account }
}

/** Creates a folder that only the server's account can enter, and checks that no one else created it. */
export async function makePrivateDir(path: string, account: Account | undefined): Promise<void> {
  await mkdir(path, { mode: 0o700 }).catch((error: unknown) => {
    if (codeOf(error) !== 'EEXIST') throw error
  })
  const found = await lstat(path)
  const self = process.getuid?.()
  if (!found.isDirectory() || (found.uid !== self && found.uid !== account?.uid)) {
    throw new Error(`${path} is in the way: it is not one of our folders (uid ${found.uid}). Remove it.`)
  }
  if (account !== undefined) await chown(path, account.uid, account.gid)
  await chmod(path, 0o700)
}

/** 12 hexadecimal digits as a short name of a path. */
export function hashOf(path: string): string {
  return createHash('sha256').update(path).digest('hex').slice(0, 12)
}

function isRoot(): boolean {
  return process.getuid?.() === 0
}

/** The path of a unix socket must stay below 108 bytes (104 on macOS), so it cannot be in the data folder. */
function socketDirOf(path: string): string {
  const parent = isRoot() && process.platform === 'linux' ? '/run' : tmpdir()
  return join(parent.length > 60 ? '/tmp' : parent, `heliogram-${hashOf(path)}`)
}

async function ownerOf(path: string): Promise<Account | undefined> {
  const found = await stat(path).catch(() => undefined)
  if (found === undefined) return undefined
  if (found.uid === 0) {
    const { name } = await unprivilegedUser()
    throw new Error(`${path} belongs to root, and PostgreSQL does not run as root. Run: chown -R ${name} ${path}`)
  }
  return { uid: found.uid, gid: found.gid }
}

/** The account of a new database. */
async function unprivilegedUser(): Promise<{ name: string; account: Account }> {
  const lines = (await readFile('/etc/passwd', 'utf8').catch(() => '')).split('\n').map((line) => line.split(':'))
  for (const name of ['heliogram', 'postgres', 'nobody']) {
    const [, , uid, gid] = lines.find((fields) => fields[0] === name) ?? []
    if (Number(uid) > 0) return { name, account: { uid: Number(uid), gid: Number(gid) } }
  }
  return { name: '65534', account: { uid: 65_534, gid: 65_534 } }
}

/** Tries it as that account: modes, groups, access lists and mounts all matter. */
async function canReach(account: Account, path: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    execFile('/bin/sh', ['-c', 'cd -- "$1"', 'sh', path], { ...account, cwd: '/', env: {} }, (error) => {
      if (codeOf(error) !== undefined) {
        reject(
          new Error(`Cannot start a process as uid ${account.uid}; run as another user, or set DATABASE_URL`, {
            cause: error,
          }),
        )
      } else resolve(error === null)
    })
  })
}
