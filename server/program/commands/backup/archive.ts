/** The file of a backup: compressed, and there under its name when it is whole. */
import { createReadStream, rmSync } from 'node:fs'
import { open, readdir, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import type { Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { constants, createZstdCompress, createZstdDecompress } from 'node:zlib'
import { codeOf } from '../../../ground/db/failure.ts'
import { isAlive } from '../../../ground/db/embedded/pidfile.ts'
import { StartError } from '../../start.ts'

/** Where a backup is written to, or read from, that has no name. */
export const standardStream = '-'

// The level at which a core compresses about as fast as PostgreSQL prints; each frame has a checksum of its own.
const zstdOptions = {
  params: { [constants.ZSTD_c_compressionLevel]: 3, [constants.ZSTD_c_checksumFlag]: 1 },
  chunkSize: 256 * 1024,
}

/** Hands octets on, and resolves when they are not needed any more. */
type Write = (octets: Buffer) => Promise<void>

/**
 * Compresses what `fill` writes into a file, under another name until it is whole and on the disk; what there was of its name stays until then.
 * Returns how many bytes it has. @throws StartError where it cannot be written, and then there is nothing of it.
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
  // Whoever ends us in a hurry leaves nothing that looks like a backup, nor much else.
  const remove = (): void => rmSync(draft, { force: true })
  process.once('exit', remove)
  try {
    // On the disk when it is closed.
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
    // Not before: who was interrupted ends meanwhile.
    process.off('exit', remove)
  }
}

const unwritable = (file: string, error: Error): StartError =>
  new StartError(`${file} cannot be written: ${error.message}.`, { cause: error })

/** Compresses what `fill` writes into a stream, which is ended; returns how many bytes came out. @throws what the stream said first. */
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
    // Ours is what our end of it has called forth.
    const isOurs = first === null || codeOf(first.error) === 'ERR_STREAM_PREMATURE_CLOSE'
    throw isOurs ? error : first.error
  }
  zstd.end()
  await flowing
  return bytes
}

/** What an archive is read from. */
export interface ArchiveSource {
  /** Decompressed. @throws where it is no archive, or is cut off or changed. */
  octets: AsyncIterable<Buffer>
  /** How much of it has been read, from 0 to 1; of a stream nobody knows. */
  fraction(): number | null
  close(): void
}

/** Opens a file, or standard input. @throws StartError where it cannot be read. */
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
  // What breaks it is thrown to whoever reads it.
  pipeline(source, zstd).catch(() => {})
  return {
    octets: zstd,
    fraction: () => (found ? read / found.size : null),
    close: () => void source.destroy(),
  }
}

const draftEnd = '.part'

/** Takes away what backups to the same file have left whose processes were killed. */
async function removeLeftovers(path: string): Promise<void> {
  const start = `${basename(path)}.`
  for (const name of await readdir(dirname(path)).catch(() => [])) {
    if (!name.startsWith(start) || !name.endsWith(draftEnd)) continue
    const pid = Number(name.slice(start.length, -draftEnd.length))
    if (Number.isInteger(pid) && !isAlive(pid)) await rm(join(dirname(path), name), { force: true })
  }
}

/** A name is on the disk when its folder is. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}
