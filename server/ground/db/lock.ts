import { open, rm, stat } from 'node:fs/promises'
import { createConnection, createServer } from 'node:net'
import type { Server } from 'node:net'
import { codeOf } from './failure.ts'

/** The lock of a data folder, held until released or until this process ends in any way. */
export interface DataDirLock {
  release(): Promise<void>
}

/** Another process holds the data folder; the message is for the operator of the second one. */
export class DataDirLockedError extends Error {}

/** A holder whose event loop is stuck still holds it. */
const answerWithinMs = 10_000

/**
 * Locks the data folder against a second Heliogram. The lock is a unix socket that we listen on, twice: in Linux's abstract namespace,
 * where binding is atomic and the kernel frees the name with the process, so that kill -9 leaves nothing behind; and as `lock` in the
 * folder, which is visible to other containers that share it. Named by the folder's device and inode, so that links and bind mounts to the
 * same folder meet.
 * @throws DataDirLockedError
 */
export async function lockDataDir(dataDir: string): Promise<DataDirLock> {
  const { dev, ino } = await stat(dataDir)
  const held: Server[] = []
  const folder = await open(dataDir, 'r')
  const release = async () => {
    await Promise.all(held.map((server) => new Promise((resolve) => server.close(resolve))))
    await folder.close()
  }
  // The path of a socket must stay below 108 bytes: through its descriptor the folder has a short one.
  const inFolder = process.platform === 'linux' ? `/proc/self/fd/${folder.fd}/lock` : `${dataDir}/lock`
  try {
    if (process.platform === 'linux') held.push(await listen(`\0heliogram-${dev}-${ino}`))
    const holder = await askHolder(inFolder)
    if (holder !== undefined) throw new HeldError(holder)
    await rm(inFolder, { force: true })
    held.push(await listen(inFolder))
  } catch (error) {
    await release()
    if (!(error instanceof HeldError)) throw error
    throw new DataDirLockedError(
      `Another Heliogram (pid ${error.message}) already uses the data folder ${dataDir}. Stop it, or set HELIOGRAM_DATA to another folder.`,
      { cause: error },
    )
  }
  return { release }
}

/** The message is the holder's process id, or `unknown`. */
class HeldError extends Error {}

async function listen(path: string): Promise<Server> {
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.end(String(process.pid))
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen({ path, exclusive: true }, resolve)
  }).catch(async (error: unknown) => {
    if (codeOf(error) !== 'EADDRINUSE') throw error
    throw new HeldError((await askHolder(path)) ?? 'unknown')
  })
  server.unref()
  return server
}

/** The holder's process id; undefined if no process listens. */
async function askHolder(path: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = createConnection({ path })
    let answer = ''
    socket.setEncoding('utf8')
    socket.setTimeout(answerWithinMs, () => socket.destroy())
    socket.on('data', (text: string) => (answer += text))
    socket.on('error', () => {})
    let isConnected = false
    socket.on('connect', () => (isConnected = true))
    socket.on('close', () => resolve(isConnected ? answer || 'unknown' : undefined))
  })
}
