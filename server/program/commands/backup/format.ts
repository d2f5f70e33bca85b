/**
 * The form of a backup: a tar, compressed with Zstandard, of
 *
 *   backup.json                    what it is of (`BackupHeader`), first, so that a restore can refuse before it writes anything
 *   README.txt                     how to look at it
 *   tables/<table>/….copy          rows as COPY of PostgreSQL writes them (text), in files of some megabytes; of a large table a day after the other
 *   manifest.json                  what has to be in it (`BackupManifest`), last: without it a backup is not whole
 *
 * Tables come in such an order that none refers to a later one.
 */

/** A program refuses formats that it does not know. */
export const backupFormat = 1

export interface BackupTable {
  name: string
  /** In the order of their values. */
  columns: string[]
  /** Those with transaction numbers, which belong to a server (events-restored.ts). */
  transactionColumns: string[]
  /** Suffixes of its day partitions (`_20261121`); empty without partitions. */
  days: string[]
}

/** Known at the start of a backup. */
export interface BackupHeader {
  format: number
  program: string
  postgres: string
  /** ISO 8601. */
  takenAt: string
  /** The database's migrations, in order: the last is the version of its schema. */
  migrations: string[]
  /** Ids of the master keys that may have sealed its secrets, as in `master_key`; empty: unknown. Never a key. */
  keys: string[]
  /** The first transaction that its snapshot did not see. */
  nextTransaction: string
  tables: BackupTable[]
}

/** Known at the end of a backup. */
export interface BackupManifest {
  /** SHA-256 of `backup.json`, in hexadecimal. */
  header: string
  tables: ManifestTable[]
}

/** Totals over the files of a table. */
export interface ManifestTable {
  name: string
  rows: number
  bytes: number
  /** SHA-256 of its concatenated files, in hexadecimal. */
  sha256: string
}

export const [headerFile, readmeFile, manifestFile] = ['backup.json', 'README.txt', 'manifest.json'] as const

export const rowsFile = (table: string, part: string, number: number): string =>
  `tables/${table}/${part}-${String(number).padStart(5, '0')}.copy`

/** The table of a file of rows; null: another file. */
export const tableOfFile = (name: string): string | null => /^tables\/([^/]+)\/[^/]+\.copy$/.exec(name)?.[1] ?? null

/** For finders without Heliogram. */
export const readme = `This is a backup of a database of Heliogram: rows as COPY of PostgreSQL writes them (text), a folder a table.

  heliogram backup --check FILE                 says what is in it, and whether it is whole
  heliogram restore FILE                        puts it into an empty database

What is in it, without Heliogram (FILE is what this archive is called):

  zstd -dc FILE | tar -xO backup.json           versions, tables and their columns, in the order of their values
  zstd -dc FILE | tar -xO --wildcards 'tables/messages/*'
  zstd -dc FILE | tar -xO manifest.json         rows, bytes and SHA-256 of each table, its files put together

What is encrypted in it needs the master key of the installation, which is not in it.
`

export function showBytes(bytes: number): string {
  const units = ['bytes', 'KB', 'MB', 'GB', 'TB']
  let at = 0
  let value = bytes
  for (; value >= 1000 && at < units.length - 1; at++) value /= 1000
  return `${at === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[at]}`
}

export const showCount = (count: number): string => count.toLocaleString('en')

export const showMany = (count: number, one: string): string => `${showCount(count)} ${one}${count === 1 ? '' : 's'}`
