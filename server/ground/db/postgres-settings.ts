/**
 * Settings of the embedded server, for one small machine that also runs Heliogram; each with its reason. Given on the command line, so that
 * the configuration file in the data folder stays PostgreSQL's own.
 */
const settings: Record<string, string> = {
  // No network access.
  listen_addresses: '',
  unix_socket_permissions: '0700',
  cluster_name: 'heliogram',
  // A 202 means on disk. These are the defaults, repeated because everything depends on them.
  fsync: 'on',
  full_page_writes: 'on',
  synchronous_commit: 'on',
  // The working set is the queue, today's partition and its indexes; the system's file cache holds the rest.
  shared_buffers: '128MB',
  // Containers often reserve huge pages without granting them, and the server then dies by SIGBUS; 128 MB gain nothing.
  huge_pages: 'off',
  // Filling each new WAL file with zeroes takes 60 ms, for which every commit waits, once for 16 MB. Files are reused after a checkpoint;
  // until then a flush may have to allocate blocks.
  wal_init_zero: 'off',
  // Would halve whole pages after a checkpoint, but takes longer than writing them (pglz; this build has no lz4).
  wal_compression: 'off',
  // SSDs: the default of 4 makes the planner scan whole partitions.
  random_page_cost: '1.1',
  // The queue is emptied by DELETE: its dead rows slow each claim until a vacuum; the default looks once a minute. Each look starts
  // processes that read the whole catalog: every ten seconds they cost half a percent of a core.
  autovacuum_naptime: '30s',
  // Our statements are short; compiling one takes longer than running it.
  jit: 'off',
  // Cores are for sending; and parallel queries need /dev/shm, of which containers get 64 MB.
  max_parallel_workers_per_gather: '0',
  // Heliogram's pools use some 50 at most; the rest is for a backup and for a person with psql.
  max_connections: '100',
  // Ends abandoned statements, such as one behind a lock that is held for minutes: each would keep its connection, and their replacements
  // would use up all of them.
  client_connection_check_interval: '5s',
  timezone: 'UTC',
  log_timezone: 'UTC',
  // Only the server's start and end. Errors of statements reach Heliogram itself, and would put numbers and texts on disk here: their
  // DETAIL shows the row.
  log_min_messages: 'log',
  log_min_error_statement: 'panic',
  log_error_verbosity: 'terse',
  log_checkpoints: 'off',
}

const walMbMax = 2048
const walMbMin = 256

/**
 * WAL kept between checkpoints: a twentieth of the disk, from 256 MB to 2 GB. Thousands of rows a second write more than the default 1 GB
 * within a checkpoint's five minutes, and each extra checkpoint writes whole pages again; but on a small disk messages need the 2 GB. Half
 * of it is kept for reuse: the first write of a file is slower, for new blocks on disk and new pages in memory.
 */
export function walSettings(diskBytes: number): Record<string, string> {
  const mb = Math.round(Math.min(walMbMax, Math.max(walMbMin, diskBytes / 20 / 2 ** 20)))
  return { max_wal_size: `${mb}MB`, min_wal_size: `${Math.floor(mb / 2)}MB` }
}

/** The command line after `-D <data>`; `overrides` win (tests and benchmarks). */
export function serverArguments(socketDir: string, overrides: Record<string, string>): string[] {
  const all = { ...settings, unix_socket_directories: socketDir, ...overrides }
  return Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`])
}
