import { readFileSync } from 'node:fs'
import { chmod, chown, readFile, readlink, realpath, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { codeOf } from '../failure.ts'

/** Reads postmaster.pid: process id, data folder, start time, port, socket folder, …, one a line. */
export async function readPidFile(data: string): Promise<{ pid: number; socketDir: string } | undefined> {
  const text = await readFile(join(data, 'postmaster.pid'), 'utf8').catch(() => '')
  const [pid = '', , , , socketDir = ''] = text.split('\n')
  return Number(pid) > 0 ? { pid: Number(pid), socketDir: socketDir.trim() } : undefined
}

/**
 * The recorded process may have ended without being reaped (in a container without an init), or its number may be another program's after a
 * crash of the machine; PostgreSQL would refuse to start. The file must stay: it also names the shared memory by which orphans of a killed
 * server are found. So it gets our process id; PostgreSQL knows that its own parent cannot be the server.
 */
export async function disownPidFile(data: string): Promise<void> {
  const path = join(data, 'postmaster.pid')
  const text = await readFile(path, 'utf8').catch(() => undefined)
  // Its writer died before the first line; PostgreSQL would wait for someone to remove it.
  if (text === '') return rm(path)
  const file = await readPidFile(data)
  if (text === undefined || file === undefined || (await isPostmaster(file.pid, data))) return
  // Atomic: if the disk is full, or this process is killed, the file stays unchanged.
  const draft = `${path}.new`
  const { uid, gid, mode } = await stat(path)
  await writeFile(draft, text.replace(/^\d+/, String(process.pid)))
  await chmod(draft, mode)
  // Only root can change owners, and only root needs to: a sandboxed service may not even try.
  if (process.getuid?.() === 0) await chown(draft, uid, gid)
  await rename(draft, path)
}

/** Whether a process is the server of this data folder, which is its working directory. */
export async function isPostmaster(pid: number, data: string): Promise<boolean> {
  if (!isAlive(pid)) return false
  if (process.platform !== 'linux') return true
  const name = await readFile(`/proc/${pid}/comm`, 'utf8').catch(() => '')
  if (name.trim() !== 'postgres') return false
  const cwd = await readlink(`/proc/${pid}/cwd`).catch(() => undefined)
  if (cwd !== undefined) return cwd === (await realpath(data))
  // Root in a container may not inspect processes of other accounts; command lines are readable by all.
  const words = (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).split('\0')
  return words.includes(data)
}

/** Polls, because only a parent is notified; also ends on abort. */
export async function untilGone(pid: number, signal: AbortSignal): Promise<string> {
  while (isAlive(pid) && !signal.aborted) await wait(100, undefined, { ref: false })
  return 'an unknown end'
}

/** Whether a process exists and has not ended. */
export function isAlive(pid: number): boolean {
  return signalProcess(pid, 0) && !isZombie(pid)
}

/** A process whose parent was killed may stay in the table after its end: a container may have no process to reap it. */
function isZombie(pid: number): boolean {
  if (process.platform !== 'linux') return false
  try {
    return / Z [^)]*$/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch (error) {
    return codeOf(error) === 'ENOENT'
  }
}

/** Sends a signal, or with 0 only checks; false if there is no such process. */
export function signalProcess(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal)
  } catch (error) {
    // A process of another account is alive.
    return codeOf(error) === 'EPERM'
  }
}
