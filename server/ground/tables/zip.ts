/** ZIP archives (PKWARE APPNOTE 6.3), as far as workbooks need them: the directory at the end, and entries inflated as they are read. */
import { crc32, createInflateRaw } from 'node:zlib'
import { bytesFrom, readBytes, type ReadChunk } from './bytes.ts'
import { inflated, isOfZlib } from './inflate.ts'

/** Why an archive cannot be read: damaged, encrypted, or larger than it claims. */
export class ZipError extends Error {
  /** The archive is not damaged, but inflates too far. */
  readonly isTooLarge: boolean

  constructor(message: string, { isTooLarge = false, ...options }: ErrorOptions & { isTooLarge?: boolean } = {}) {
    super(message, options)
    this.isTooLarge = isTooLarge
  }
}

export interface ZipEntry {
  name: string
  method: number
  checksum: number
  /** Bytes in the archive. */
  compressed: number
  /** The size that it claims to inflate to. */
  inflated: number
  /** Offset of its local header. */
  offset: number
}

// People's sheets shrink to a tenth, and blank rows to a thirtieth; files that shrink further were made to keep others waiting. DEFLATE goes up to
// 1032.
const ratioMax = 100
const ratioBytesMin = 16 * 1024 * 1024

// A workbook has some ten entries and a directory of a few kilobytes.
const directoryBytesMax = 1 << 20
// The end of the directory precedes a comment of at most 64 KiB.
const endBytesMax = 22 + 65_535

/** The entries of an archive of `size` bytes, by name. @throws ZipError */
export async function readDirectory(read: ReadChunk, size: number): Promise<Map<string, ZipEntry>> {
  const start = Math.max(0, size - endBytesMax)
  const tail = await readBytes(read, start, size - start)
  const end = tail.lastIndexOf('PK\u0005\u0006', undefined, 'latin1')
  if (end === -1 || end + 22 > tail.length) throw new ZipError('is incomplete: its end is missing')
  const bytes = tail.readUInt32LE(end + 12)
  const offset = tail.readUInt32LE(end + 16)
  if (bytes > directoryBytesMax || offset + bytes > size) throw new ZipError('has a directory that cannot be read')
  const directory = await readBytes(read, offset, bytes)
  const entries = new Map<string, ZipEntry>()
  for (let at = 0; at + 46 <= directory.length;) {
    if (directory.readUInt32LE(at) !== 0x02014b50) break
    const [nameLength, extraLength, commentLength] = [28, 30, 32].map((field) => directory.readUInt16LE(at + field))
    const nameEnd = at + 46 + (nameLength ?? 0)
    const extraEnd = nameEnd + (extraLength ?? 0)
    if (extraEnd > directory.length) throw new ZipError('has a directory that cannot be read')
    if (directory.readUInt16LE(at + 8) & 1) throw new ZipError('is encrypted')
    const name = directory.toString('utf8', at + 46, nameEnd).replaceAll('\\', '/')
    entries.set(name.toLowerCase(), {
      name,
      method: directory.readUInt16LE(at + 10),
      checksum: directory.readUInt32LE(at + 16),
      ...readPlace(directory, at, directory.subarray(nameEnd, extraEnd)),
    })
    at = extraEnd + (commentLength ?? 0)
  }
  return entries
}

/** Size and offset. Those that do not fit in 32 bits are in the ZIP64 field, which has only these. */
function readPlace(directory: Buffer, at: number, extra: Buffer): Pick<ZipEntry, 'compressed' | 'inflated' | 'offset'> {
  const fields = [24, 20, 42].map((field) => directory.readUInt32LE(at + field))
  let wide = Buffer.alloc(0)
  for (let from = 0; from + 4 <= extra.length; from += 4 + extra.readUInt16LE(from + 2))
    if (extra.readUInt16LE(from) === 1)
      wide = Buffer.from(extra.subarray(from + 4, from + 4 + extra.readUInt16LE(from + 2)))
  let used = 0
  const [inflated = 0, compressed = 0, offset = 0] = fields.map((value) => {
    if (value !== 0xffffffff || used + 8 > wide.length) return value
    used += 8
    return Number(wide.readBigUInt64LE(used - 8))
  })
  return { compressed, inflated, offset }
}

/** The content of an entry as text, in pieces. @throws ZipError if it is damaged or inflates to more than `inflatedMax` bytes. */
export async function* readEntry(read: ReadChunk, entry: ZipEntry, inflatedMax: number): AsyncGenerator<string> {
  // The claimed ratio is refused before reading, and the real one as soon as it is seen.
  refuseRatio(entry, entry.inflated)
  const header = await readBytes(read, entry.offset, 30)
  if (header.length < 30 || header.readUInt32LE(0) !== 0x04034b50) throw new ZipError(`has no ${entry.name}`)
  const start = entry.offset + 30 + header.readUInt16LE(26) + header.readUInt16LE(28)
  const decoder = new TextDecoder()
  let count = 0
  let checksum = 0
  for await (const bytes of contentOf(read, entry, start)) {
    count += bytes.length
    checksum = crc32(bytes, checksum)
    refuseRatio(entry, count)
    if (count > inflatedMax)
      throw new ZipError(`inflates to more than ${inflatedMax} bytes; save it as CSV`, { isTooLarge: true })
    yield decoder.decode(bytes, { stream: true })
  }
  // Most damaged data still inflates to something.
  if (checksum !== entry.checksum) throw new ZipError(`has a damaged ${entry.name}`)
}

function refuseRatio({ name, compressed }: ZipEntry, bytes: number): void {
  if (bytes <= ratioBytesMin || bytes <= compressed * ratioMax) return
  const detail = `has a ${name} that inflates to more than ${ratioMax} times its size; save it as CSV`
  throw new ZipError(detail, { isTooLarge: true })
}

async function* contentOf(read: ReadChunk, entry: ZipEntry, start: number): AsyncGenerator<Buffer> {
  const stored = slicesOf(read, start, entry.compressed)
  if (entry.method === 0) {
    yield* stored
    return
  }
  if (entry.method !== 8) throw new ZipError(`has ${entry.name} in an unsupported compression`)
  try {
    yield* inflated(createInflateRaw({ chunkSize: 65_536 }), stored)
  } catch (error) {
    if (!isOfZlib(error)) throw error
    throw new ZipError(`has a damaged ${entry.name}`, { cause: error })
  }
}

async function* slicesOf(read: ReadChunk, start: number, length: number): AsyncGenerator<Buffer> {
  let missing = length
  for await (const bytes of bytesFrom(read, start)) {
    yield bytes.subarray(0, missing)
    missing -= bytes.length
    if (missing <= 0) return
  }
}
