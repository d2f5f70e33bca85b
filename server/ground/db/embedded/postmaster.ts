import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { Client } from 'pg'
import { openLog, owner, serverEnvironment } from './cluster.ts'
import type { Cluster } from './cluster.ts'
import type { Connection } from '../db.ts'
import { codeOf, isUnavailable } from '../failure.ts'
import type { Log } from '../log.ts'
import { disownPidFile, isAlive, isPostmaster, readPidFile, signalProcess, untilGone } from './pidfile.ts'
import { makePrivateDir } from './place.ts'
import { serverArguments } from '../postgres-settings.ts'

export interface Postmaster {
  pid: number
  connection: Connection
  /** As in `server_version`: 18.4. */
  version: string
  /** Resolves after the process has ended, with the known reason. */
  ended: Promise<string>
}

/** A server did not start; the message has the end of its output. */
export class NotStartedError extends Error {
  /** Its last output, and the remedy, in one line. */
  readonly reason: string

  constructor({ data, log }: Pick<Cluster, 'data' | 'log'>, printed: string, cause: unknown) {
    super(`PostgreSQL did not start on ${data}:\n${printed.split('\n').slice(-8).join('\n')}`, { cause })
    const faults = [...printed.matchAll(/(?: (?:FATAL|PANIC): {2}|^postgres: )(.*)$/gm)].map(([, fault = '']) => fault)
    const own =
      faults.findLast((fault) => !refusalOfClient.test(fault)) ?? (cause instanceof Error ? cause.message : '')
    const isFull = /No space left on device|Disk quota exceeded/.test(own)
    this.reason = `${own}; ${isFull ? `make room where ${data} is: then it starts by itself` : `see ${log}`}`
  }
}

/** The error of a starting or stopping server to each client. */
const refusalOfClient = /^the database system is /

/** A recovery after a crash may take minutes, and is logged at this interval. */
const noticeEveryMs = 10_000

/** A process that holds the database but does not answer (stopped, hung) is reported after this time, and left alone. */
const answerWithinMs = 60_000

/** Children of a killed postmaster notice within moments; until then a new one refuses to start. */
const orphansGoneWithinMs = 15_000

/** Finds the server that an earlier process of ours left running on this cluster, and waits until it answers. */
export async function findPostmaster(cluster: Cluster, log: Log): Promise<Postmaster | undefined> {
  const file = await readPidFile(cluster.data)
  if (file === undefined || !(await isPostmaster(file.pid, cluster.data))) return undefined
  const connection = connectionOf(cluster, file.socketDir)
  const watch = new AbortController()
  const ended = untilGone(file.pid, watch.signal)
  try {
    const version = await untilReady(connection, ended, log, answerWithinMs)
    return { pid: file.pid, connection, version, ended }
  } catch (error) {
    // It was stopping, which frees the database for a new one.
    if (!isAlive(file.pid)) return undefined
    watch.abort()
    throw new Error(
      `PostgreSQL (pid ${file.pid}) already runs on ${cluster.data}, but Heliogram cannot use it. Stop it with: kill -INT ${file.pid}`,
      { cause: error },
    )
  }
}

/** Starts the server and waits until it answers. */
export async function launchPostmaster(
  cluster: Cluster,
  bin: string,
  settings: Record<string, string>,
  log: Log,
): Promise<Postmaster> {
  const giveUpAt = performance.now() + orphansGoneWithinMs
  for (;;) {
    try {
      return await launchOnce(cluster, bin, settings, log)
    } catch (error) {
      const isHeldByOrphans = error instanceof Error && error.message.includes('shared memory block')
      if (!isHeldByOrphans || performance.now() > giveUpAt) throw error
      await wait(100)
    }
  }
}

async function launchOnce(
  cluster: Cluster,
  bin: string,
  settings: Record<string, string>,
  log: Log,
): Promise<Postmaster> {
  // Both may name a server that is gone; nothing runs on this cluster, as findPostmaster or the server's end has shown.
  await rm(cluster.socketDir, { recursive: true, force: true })
  await makePrivateDir(cluster.socketDir, cluster.account)
  await disownPidFile(cluster.data)
  const output = await openLog(cluster.log)
  const child = spawn(
    join(bin, 'bin/postgres'),
    ['-D', cluster.data, ...serverArguments(cluster.socketDir, settings)],
    {
      ...cluster.account,
      cwd: '/',
      env: serverEnvironment,
      // Its own session: a Ctrl-C in our terminal is for us, and we stop the server after our last statement.
      detached: true,
      // A file and not a pipe, so that it survives us.
      stdio: ['ignore', output.fd, output.fd],
    },
  )
  const ended = once(child, 'exit').then(
    ([code, signal]: (number | string | null)[]) => (signal === null ? `exit code ${code}` : `signal ${signal}`),
    (error: unknown) => `not started: ${String(error)}`,
  )
  await output.close()
  child.unref()
  const connection = connectionOf(cluster, cluster.socketDir)
  try {
    const version = await untilReady(connection, ended, log)
    return { pid: child.pid ?? 0, connection, version, ended }
  } catch (error) {
    const printed = await readFile(cluster.log, 'utf8').then(
      (text) => Buffer.from(text).subarray(output.start).toString().trim(),
      () => '',
    )
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGQUIT')
    throw new NotStartedError(cluster, printed, error)
  }
}

/** Waits until a server accepts our password and answers; rejects if it ends or refuses us. */
async function untilReady(
  connection: Connection,
  ended: Promise<string>,
  log: Log,
  withinMs = Number.POSITIVE_INFINITY,
): Promise<string> {
  let end: string | undefined
  void ended.then((how) => (end = how))
  const startedAt = performance.now()
  let noticeAt = startedAt + noticeEveryMs
  for (;;) {
    const answer = await askVersion(connection)
    if (typeof answer === 'string') return answer
    if (!isUnavailable(answer)) throw answer
    if (end !== undefined) throw new Error(`PostgreSQL ended with ${end}`, { cause: answer })
    const now = performance.now()
    if (now - startedAt > withinMs) throw answer
    if (now > noticeAt) {
      log.info({ waitedMs: Math.round(now - startedAt), answer: answer.message }, 'waiting for PostgreSQL')
      noticeAt = now + noticeEveryMs
    }
    await wait(20)
  }
}

/** Connects once; creates our database the first time. Returns the server's version, or the error. */
async function askVersion(connection: Connection): Promise<string | Error> {
  const client = new Client({
    ...connection,
    database: 'postgres',
    connectionTimeoutMillis: 5_000,
    query_timeout: 5_000,
  })
  // Errors of the connection also reject the running call.
  client.on('error', () => {})
  try {
    await client.connect()
    const { rows } = await client.query<{ version: string; hasOurs: boolean }>(
      `select current_setting('server_version') as version,
              exists (select from pg_database where datname = $1) as "hasOurs"`,
      [owner],
    )
    if (rows[0]?.hasOurs === false) await makeOurs(client)
    return rows[0]?.version ?? ''
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error))
  } finally {
    await client.end().catch(() => {})
  }
}

/** A connection abandoned on a slow disk may have created it meanwhile. */
async function makeOurs(client: Client): Promise<void> {
  await client.query(`create database ${owner}`).catch((error: unknown) => {
    // SQLSTATE duplicate_database, or unique_violation for concurrent creation.
    if (!['42P04', '23505'].includes(codeOf(error) ?? '')) throw error
  })
}

/** Stops the server: at once but in order, then without saving (the log is replayed at the next start), then by force. */
export async function stopPostmaster({ pid, ended }: Postmaster, log: Log): Promise<void> {
  const steps = [
    ['SIGINT', 60_000],
    ['SIGQUIT', 10_000],
    ['SIGKILL', 10_000],
  ] as const
  for (const [signal, withinMs] of steps) {
    signalProcess(pid, signal)
    const timer = new AbortController()
    const isGone = await Promise.race([
      ended.then(() => true),
      wait(withinMs, false, { signal: timer.signal }).catch(() => false),
    ])
    timer.abort()
    if (isGone) return
    log.warn({ pid, signal, waitedMs: withinMs }, 'PostgreSQL did not stop')
  }
}

/** The connection to a cluster's server. Complete: pg would take missing parts from PGPORT or PGSSLMODE, which are for another one. */
export function connectionOf({ password }: Pick<Cluster, 'password'>, socketDir: string): Connection {
  return { host: socketDir, port: 5432, user: owner, password, database: owner, ssl: false }
}
