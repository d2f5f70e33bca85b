import { rm, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { findPackaged, placeBinaries } from './binaries.ts'
import { clusterFolder, openCluster } from './cluster.ts'
import type { Connection } from '../db.ts'
import type { Log } from '../log.ts'
import { walSettings } from '../postgres-settings.ts'
import { choosePlace } from './place.ts'
import { findPostmaster, launchPostmaster, NotStartedError, stopPostmaster } from './postmaster.ts'
import type { Postmaster } from './postmaster.ts'

/** The PostgreSQL from npm, running and supervised. */
export interface Embedded {
  /** Through a unix socket, as the superuser `heliogram`, to the database `heliogram`. Stays the same over restarts. */
  connection: Connection
  /** As in `server_version`: 18.4. */
  version: string
  /** Found running, left by a killed process of ours. */
  adopted: boolean
  /** The database files; outside `dataDir` if an unprivileged account cannot reach that. */
  dataPath: string
  /** Stops the server in order; open connections are closed. */
  close: () => Promise<void>
  /** Resolves after `close`. A server that dies is restarted, with a log line. */
  exited: Promise<void>
}

/** First and longest pause before a restart. */
const restartAfterMs = 100
const restartAfterMsMax = 10_000

/** How often a failure to restart is logged: a full disk may last for hours. */
const toldEveryMs = 60_000

/**
 * Starts PostgreSQL on the data folder (see `prepareDataDir`; the caller holds its lock), creates the database the first time, or adopts a
 * server left by a killed process of ours. Throws with a message for the operator.
 */
export async function startEmbedded(options: {
  dataDir: string
  log: Log
  /** Overrides settings, for tests and benchmarks. */
  settings?: Record<string, string>
}): Promise<Embedded> {
  const { dataDir, log, settings = {} } = options
  const packaged = await findPackaged()
  const place = await choosePlace(dataDir, clusterFolder(packaged.major))
  const bin = () => placeBinaries(packaged, place.path)
  const cluster = await openCluster(place, packaged.major, bin)
  let found = await findPostmaster(cluster, log)
  if (found !== undefined && found.version !== packaged.version) {
    log.info({ from: found.version, to: packaged.version }, 'replacing the running PostgreSQL')
    await stopPostmaster(found, log)
    found = undefined
  }
  // A server started with another TMPDIR has its socket elsewhere; it stays there over restarts, as the pools expect.
  const home = { ...cluster, socketDir: found?.connection.host ?? cluster.socketDir }
  const launch = async () => {
    const { blocks, bsize } = await statfs(cluster.data)
    return launchPostmaster(home, await bin(), { ...walSettings(blocks * bsize), ...settings }, log)
  }
  let current: Postmaster | undefined = found ?? (await launch())
  const { connection, version } = current
  const closing = new AbortController()

  /** Undefined while closing. */
  async function launchAgain(): Promise<Postmaster | undefined> {
    const told = { reason: '', at: 0 }
    let times = 0
    for (let pauseMs = restartAfterMs; ; pauseMs = Math.min(pauseMs * 2, restartAfterMsMax)) {
      await wait(pauseMs, undefined, { signal: closing.signal }).catch(() => {})
      if (closing.signal.aborted) return undefined
      try {
        return await launch()
      } catch (error) {
        times++
        const reason = error instanceof NotStartedError ? error.reason : String(error)
        if (reason === told.reason && performance.now() - told.at < toldEveryMs) continue
        log.error({ reason, times }, 'PostgreSQL did not start again')
        Object.assign(told, { reason, at: performance.now() })
        times = 0
      }
    }
  }

  async function supervise(): Promise<void> {
    while (current !== undefined) {
      const { pid, ended } = current
      const how = await Promise.race([ended, aborted(closing.signal)])
      if (how === undefined) {
        await stopPostmaster(current, log)
        break
      }
      log.error({ pid, how }, 'PostgreSQL died; starting it again')
      current = await launchAgain()
      if (current !== undefined) log.info({ pid: current.pid }, 'PostgreSQL started again')
    }
    await rm(home.socketDir, { recursive: true, force: true })
  }

  const exited = supervise()
  const close = async () => {
    closing.abort()
    await exited
  }
  const dataPath = join(place.path, clusterFolder(packaged.major))
  return { connection, version, adopted: found !== undefined, dataPath, close, exited }
}

function aborted(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(undefined)
    else signal.addEventListener('abort', () => resolve(undefined), { once: true })
  })
}
