import { chmod, mkdtemp, readdir, rm, stat, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findPackaged } from './binaries.ts'
import { clusterFolder } from './cluster.ts'
import { startEmbedded } from './embedded.ts'
import type { Log } from '../log.ts'
import { isAlive, isPostmaster, readPidFile, signalProcess } from './pidfile.ts'
import { prepareDataDir } from './place.ts'

/** A PostgreSQL for tests and scripts, in a temporary folder that is removed with it. */
export interface Disposable {
  url: string
  close: () => Promise<void>
}

/** Nothing must survive a crash, so no write waits for the disk. */
const settings = {
  fsync: 'off',
  full_page_writes: 'off',
  wal_level: 'minimal',
  max_wal_senders: '0',
  max_connections: '200',
}

const prefix = 'heliogram-test-'

/** Linux's memory file system. A database is some thousand files, and their creation on disk took a twentieth of the tests' time. */
const inMemory = '/dev/shm'
const gibibyte = 2 ** 30

/** The folder of temporary files; instead of the default, one in memory if there is enough. */
export async function findParent(): Promise<string> {
  if (tmpdir() !== '/tmp' || process.availableMemory() < 8 * gibibyte) return tmpdir()
  const { bavail, bsize } = await statfs(inMemory).catch(() => ({ bavail: 0, bsize: 0 }))
  return bavail * bsize < 4 * gibibyte ? tmpdir() : inMemory
}

/** Starts an empty server, or one on the data folder that `fill` prepares; `serverOptions` are more settings. Takes about a second. */
export async function startDisposable(
  log: Log,
  serverOptions: Record<string, string> = {},
  fill?: (dataDir: string) => Promise<void>,
): Promise<Disposable> {
  const parent = await findParent()
  await removeLeftovers(parent)
  const folder = await mkdtemp(join(parent, `${prefix}${process.pid}-`))
  // A root user's PostgreSQL runs as another account, which needs access to its folder.
  await chmod(folder, 0o711)
  await fill?.(join(folder, 'data'))
  const dataDir = await prepareDataDir(join(folder, 'data'))
  const embedded = await startEmbedded({ dataDir, log, settings: { ...settings, ...serverOptions } })
  const { user = '', password = '', host = '', port, database = '' } = embedded.connection
  const url = new URL(`postgres://localhost/${database}`)
  url.username = user
  url.password = typeof password === 'string' ? password : ''
  url.searchParams.set('host', host)
  url.searchParams.set('port', String(port))
  const close = async () => {
    await embedded.close()
    await rm(folder, { recursive: true, force: true })
  }
  return { url: url.href, close }
}

/** Ends the servers of killed processes. */
async function removeLeftovers(parent: string): Promise<void> {
  for (const name of await readdir(parent)) {
    const pid = name.startsWith(prefix) ? Number.parseInt(name.slice(prefix.length), 10) : Number.NaN
    if (Number.isNaN(pid) || isAlive(pid)) continue
    const folder = join(parent, name)
    if ((await stat(folder).catch(() => undefined))?.uid !== process.getuid?.()) continue
    const data = join(folder, 'data', clusterFolder((await findPackaged()).major))
    const server = await readPidFile(data)
    if (server !== undefined && (await isPostmaster(server.pid, data))) {
      signalProcess(server.pid, 'SIGQUIT')
      await rm(server.socketDir, { recursive: true, force: true })
    }
    await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}
