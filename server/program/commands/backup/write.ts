/** Writes a backup: a snapshot of all tables as the files of an archive (format.ts). */
import { createHash } from 'node:crypto'
import { escapeIdentifier } from 'pg'
import { copyOut } from '../../../ground/db/copy.ts'
import { inTransaction, type Db, type Tx } from '../../../ground/db/db.ts'
import { appliedNames } from '../../../ground/db/migrate.ts'
import { liftTimeouts } from '../../../ground/db/timeouts.ts'
import { readKeyOfDatabase } from '../../../ground/sealing/key-of-database.ts'
import {
  backupFormat,
  headerFile,
  manifestFile,
  readme,
  readmeFile,
  rowsFile,
  type BackupHeader,
  type BackupManifest,
  type ManifestTable,
} from './format.ts'
import type { Progress } from './progress.ts'
import { findTables, type FoundTable } from './tables.ts'
import { tarEnd, tarHeader, tarPadding } from './tar.ts'

export interface BackupContext {
  /** A single connection. */
  db: Db
  program: string
  progress: Progress
  /** Checked between pieces. */
  signal: AbortSignal
}

export interface Written {
  header: BackupHeader
  manifest: BackupManifest
}

// The size of a file, held twice in memory. Larger ones are no faster.
const pieceBytes = 2 * 2 ** 20

/**
 * Passes the archive's octets to `write`, in order. All tables are of one snapshot, and locked until the end against drops and column
 * changes only (ACCESS SHARE).
 */
export async function writeBackup(context: BackupContext, write: (octets: Buffer) => Promise<void>): Promise<Written> {
  const { db, progress, signal } = context
  await db.query(`${liftTimeouts(false)}; set idle_in_transaction_session_timeout = 0`)
  const names = new Set((await findTables(db)).map(({ name }) => name))
  return inTransaction(db, async (tx) => {
    // Locks come before any read: the snapshot is later, and sees the days that they keep. Waits for a migration, or a day that is being
    // dropped.
    await tx.query(
      `set transaction isolation level repeatable read, read only;
       lock table ${[...names].map(escapeIdentifier).join(', ')} in access share mode`,
    )
    const tables = (await findTables(tx)).filter(({ name }) => names.has(name))
    const header = await describe(tx, context, tables)
    const atMs = Date.parse(header.takenAt)
    const writeFile = async (name: string, content: Buffer): Promise<void> => {
      signal.throwIfAborted()
      await write(tarHeader(name, content.length, atMs))
      await write(content)
      await write(tarPadding(content.length))
      progress.add(content.length)
    }
    const headerText = jsonOf(header)
    await writeFile(headerFile, headerText)
    await writeFile(readmeFile, Buffer.from(readme))
    const written: ManifestTable[] = []
    let done = 0
    const size = tables.flatMap(({ parts }) => parts).reduce((sum, { bytes }) => sum + bytes, 0)
    for (const table of tables) {
      const hash = createHash('sha256')
      let [rows, bytes] = [0, 0]
      const columns = table.columns.map(escapeIdentifier).join(', ')
      for (const { name, part, bytes: partBytes } of table.parts) {
        progress.at(name, done / size)
        let number = 0
        // A table and not a query, which would open its indexes: a year of days has more of them than can be locked.
        rows += await copyOut(
          tx,
          `copy ${escapeIdentifier(name)} (${columns}) to stdout`,
          pieceBytes,
          async (piece) => {
            hash.update(piece)
            bytes += piece.length
            await writeFile(rowsFile(table.name, part, ++number), piece)
          },
        )
        done += partBytes
      }
      written.push({ name: table.name, rows, bytes, sha256: hash.digest('hex') })
    }
    const manifest = { header: createHash('sha256').update(headerText).digest('hex'), tables: written }
    await writeFile(manifestFile, jsonOf(manifest))
    await write(tarEnd)
    return { header, manifest }
  })
}

const jsonOf = (value: object): Buffer => Buffer.from(`${JSON.stringify(value, null, 1)}\n`)

async function describe(tx: Tx, { program }: BackupContext, tables: FoundTable[]): Promise<BackupHeader> {
  const { rows } = await tx.query<Pick<BackupHeader, 'postgres' | 'takenAt' | 'nextTransaction'>>(
    `select current_setting('server_version') as postgres,
       to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "takenAt",
       pg_snapshot_xmax(pg_current_snapshot())::text as "nextTransaction"`,
  )
  const [now] = rows
  if (!now) throw new Error('a select without a condition returned no row')
  // Databases of older versions have no such table.
  const known = tables.some(({ name }) => name === 'master_key') ? await readKeyOfDatabase(tx) : null
  return {
    format: backupFormat,
    program,
    ...now,
    migrations: await appliedNames(tx),
    keys: known?.sealing ?? [],
    tables: tables.map(({ name, columns, transactionColumns, days }) => ({ name, columns, transactionColumns, days })),
  }
}
