/** The file of a backup: compressed, and renamed when complete. */
import { createReadStream, rmSync } from 'node:fs'
import { open, readdir, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import type { Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { constants, createZstdCompress, createZstdDecompress } from 'node:zlib'
import { codeOf } from '../../../ground/db/failure.ts'
import { isAlive } from '../../../ground/db/embedded/pidfile.ts'
import { StartError } from '../../start.ts'

export const standardStream = '-'

// At this level one core compresses about as fast as PostgreSQL prints; each frame has its own checksum.
const zstdOptions = {
  params: { [constants.ZSTD_c_compressionLevel]: 3, [constants.ZSTD_c_checksumFlag]: 1 },
  chunkSize: 256 * 1024,
}

/** Resolves when the octets may be reused. */
type Write = (octets: Buffer) => Promise<void>

/**
 * Compresses the output of `fill` into a draft file, which replaces `file` when it is complete and on disk. Returns its bytes. @throws
 * StartError if it cannot be written; then the draft is removed.
 */
export async function writeArchive(file: string, fill: (write: Write) => Promise<void>): Promise<number> {
  const path = resolve(file)
  await removeLeftovers(path)
  const draft = `${path}.${process.pid}${draftEnd}`
  const explain = (error: unknown): never => {
    if (error instanceof Error && 'path' in error) throw unwritable(file, error)
    throw error
  }
  if ((await stat(path).catch(() => null))?.isDirectory())
    throw new StartError(`${file} is a folder: name a file in it.`)
  const handle = await open(draft, 'wx', 0o600).catch(explain)
  // Removes the draft if the process is ended early.
  const remove = (): void => rmSync(draft, { force: true })
  process.once('exit', remove)
  try {
    // Synced at close.
    const bytes = await compress(handle.createWriteStream({ flush: true }), fill).catch((error: unknown) => {
      throw ['ENOSPC', 'EDQUOT', 'EIO', 'EFBIG'].includes(codeOf(error) ?? '')
        ? unwritable(file, error as Error)
        : error
    })
    await rename(draft, path).catch(explain)
    await syncFolder(dirname(path))
    return bytes
  } finally {
    await handle.close().catch(() => {})
    await rm(draft, { force: true })
    // Not earlier: an interrupted process exits meanwhile.
    process.off('exit', remove)
  }
}

const unwritable = (file: string, error: Error): StartError =>
  new StartError(`${file} cannot be written: ${error.message}.`, { cause: error })

/** Compresses the output of `fill` into a stream, and ends it; returns the compressed bytes. @throws the stream's first error. */
export async function compress(target: Writable, fill: (write: Write) => Promise<void>): Promise<number> {
  const zstd = createZstdCompress(zstdOptions)
  let bytes = 0
  zstd.on('data', (chunk: Buffer) => (bytes += chunk.length))
  zstd.pause()
  const flowing = pipeline(zstd, target)
  const failed = flowing.then(
    () => null,
    (error: unknown) => ({ error }),
  )
  try {
    await fill(
      (octets) => new Promise<void>((done, reject) => zstd.write(octets, (error) => (error ? reject(error) : done()))),
    )
  } catch (error) {
    zstd.destroy()
    const first = await failed
    // This error is a consequence of closing our end.
    const isOurs = first === null || codeOf(first.error) === 'ERR_STREAM_PREMATURE_CLOSE'
    throw isOurs ? error : first.error
  }
  zstd.end()
  await flowing
  return bytes
}

export interface ArchiveSource {
  /** Decompressed. @throws if it is not an archive, or truncated or changed. */
  octets: AsyncIterable<Buffer>
  /** The part read, from 0 to 1; null for a stream. */
  fraction(): number | null
  close(): void
}

/** Opens a file, or standard input. @throws StartError if it cannot be read. */
export async function openArchive(file: string): Promise<ArchiveSource> {
  const unreadable = (error: Error): never => {
    throw new StartError(`${file} cannot be read: ${error.message}.`, { cause: error })
  }
  const found = file === standardStream ? null : await stat(file).catch(unreadable)
  if (found?.isDirectory()) throw new StartError(`${file} is a folder: name a file in it.`)
  const source = found ? createReadStream(file, { highWaterMark: 256 * 1024 }) : process.stdin
  const zstd = createZstdDecompress({ chunkSize: 256 * 1024 })
  let read = 0
  source.on('data', (chunk: Buffer) => (read += chunk.length))
  source.pause()
  // The reader gets the error.
  pipeline(source, zstd).catch(() => {})
  return {
    octets: zstd,
    fraction: () => (found ? read / found.size : null),
    close: () => void source.destroy(),
  }
}

const draftEnd = '.part'

/** Removes drafts of killed backups to the same file. */
async function removeLeftovers(path: string): Promise<void> {
  const start = `${basename(path)}.`
  for (const name of await readdir(dirname(path)).catch(() => [])) {
    if (!name.startsWith(start) || !name.endsWith(draftEnd)) continue
    const pid = Number(name.slice(start.length, -draftEnd.length))
    if (Number.isInteger(pid) && !isAlive(pid)) await rm(join(dirname(path), name), { force: true })
  }
}

/** A rename is durable after its folder is synced. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}
