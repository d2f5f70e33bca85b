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

/** Of the form; a program that does not know it refuses it. */
export const backupFormat = 1

/** A table of a backup. */
export interface BackupTable {
  name: string
  /** In the order of their values. */
  columns: string[]
  /** Those of them that have numbers of transactions, which belong to a server (events-restored.ts). */
  transactionColumns: string[]
  /** Suffixes of its day partitions (`_20261121`); none where it has no partitions. */
  days: string[]
}

/** What is known when a backup is begun. */
export interface BackupHeader {
  format: number
  /** Of the program that wrote it. */
  program: string
  /** Of the PostgreSQL that it was made from. */
  postgres: string
  /** When its snapshot was taken, ISO 8601. */
  takenAt: string
  /** The migrations of its database, in their order: the last is the version of its schema. */
  migrations: string[]
  /** Ids of the master keys that its secrets may be sealed with, as `master_key` has them; none: nobody knew. Never a key. */
  keys: string[]
  /** The first transaction that its snapshot did not see. */
  nextTransaction: string
  tables: BackupTable[]
}

/** What is known when it has been written. */
export interface BackupManifest {
  /** SHA-256 of `backup.json`, in hexadecimal. */
  header: string
  tables: ManifestTable[]
}

/** What is in the files of a table, put together. */
export interface ManifestTable {
  name: string
  rows: number
  bytes: number
  /** SHA-256 of its files, one after the other, in hexadecimal. */
  sha256: string
}

/** Names of the files that are not rows. */
export const [headerFile, readmeFile, manifestFile] = ['backup.json', 'README.txt', 'manifest.json'] as const

/** The name of a file of rows: of a table, of a partition of it, and which one of these. */
export const rowsFile = (table: string, part: string, number: number): string =>
  `tables/${table}/${part}-${String(number).padStart(5, '0')}.copy`

/** The table whose rows a file has; null: another file. */
export const tableOfFile = (name: string): string | null => /^tables\/([^/]+)\/[^/]+\.copy$/.exec(name)?.[1] ?? null

/** For whoever finds one and has no Heliogram. */
export const readme = `This is a backup of a database of Heliogram: rows as COPY of PostgreSQL writes them (text), a folder a table.

  heliogram backup --check FILE                 says what is in it, and whether it is whole
  heliogram restore FILE                        puts it into an empty database

What is in it, without Heliogram (FILE is what this archive is called):

  zstd -dc FILE | tar -xO backup.json           versions, tables and their columns, in the order of their values
  zstd -dc FILE | tar -xO --wildcards 'tables/messages/*'
  zstd -dc FILE | tar -xO manifest.json         rows, bytes and SHA-256 of each table, its files put together

What is encrypted in it needs the master key of the installation, which is not in it.
`

/** Bytes as people read them. */
export function showBytes(bytes: number): string {
  const units = ['bytes', 'KB', 'MB', 'GB', 'TB']
  let at = 0
  let value = bytes
  for (; value >= 1000 && at < units.length - 1; at++) value /= 1000
  return `${at === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[at]}`
}

/** A count as people read it. */
export const showCount = (count: number): string => count.toLocaleString('en')

/** A number of things. */
export const showMany = (count: number, one: string): string => `${showCount(count)} ${one}${count === 1 ? '' : 's'}`
