/** The benchmark's PostgreSQL: embedded and configured as in the product, fsync on, in a temporary folder. */
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { startEmbedded } from '../../server/ground/db/embedded/embedded.ts'
import { prepareDataDir } from '../../server/ground/db/embedded/place.ts'

export type BenchDatabase = {
  version: string
  pid: number
  createDatabase(name: string): Promise<string>
  stop(): Promise<void>
}

const quiet = {
  info: () => {},
  warn: (fields: object, message: string) => console.warn(message, fields),
  error: (fields: object, message: string) => console.error(message, fields),
}

/**
 * Makes each flush of the log take 1 ms longer, as on ordinary disks: the flusher sleeps with the lock held, and commits that come meanwhile join
 * the same flush, as with a slow fsync.
 */
export const slowFsync = { commit_delay: '1000', commit_siblings: '0' }

export async function startDatabase(settings: Record<string, string> = {}): Promise<BenchDatabase> {
  const folder = mkdtempSync(join(tmpdir(), 'heliogram-bench-pg-'))
  // For root PostgreSQL runs as another account, which must reach its folder.
  chmodSync(folder, 0o711)
  const embedded = await startEmbedded({ dataDir: await prepareDataDir(join(folder, 'data')), log: quiet, settings })
  const urlOf = (database: string) => {
    const { user = '', password = '', host = '', port = 5432 } = embedded.connection
    const secret = typeof password === 'string' ? password : ''
    return `postgres://${user}:${encodeURIComponent(secret)}@localhost/${database}?host=${encodeURIComponent(host)}&port=${port}`
  }
  const pid = Number(readFileSync(join(embedded.dataPath, 'postmaster.pid'), 'utf8').split('\n')[0])
  // On interruption: SIGINT is PostgreSQL's fast shutdown.
  const interrupt = () => process.kill(pid, 'SIGINT')
  process.once('exit', interrupt)
  return {
    version: embedded.version,
    pid,
    createDatabase: async (name) => {
      await queryOnce(urlOf('postgres'), `create database ${name}`)
      return urlOf(name)
    },
    stop: async () => {
      process.off('exit', interrupt)
      await embedded.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Runs one statement on its own connection; returns the first column of its first row as a number. */
export async function queryOnce(url: string, statement: string): Promise<number> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    const { rows } = await client.query<unknown[]>({ text: statement, rowMode: 'array' })
    return Number(rows[0]?.[0] ?? 0)
  } finally {
    await client.end()
  }
}
