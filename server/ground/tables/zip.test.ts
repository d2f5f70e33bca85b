import { crc32, deflateRawSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { chunkBytes, type ReadChunk } from './bytes.ts'
import { readDirectory, readEntry, ZipError } from './zip.ts'

const numbers = (...values: [value: number | bigint, bytes: 2 | 4 | 8][]): Buffer =>
  Buffer.concat(
    values.map(([value, bytes]) => {
      const buffer = Buffer.alloc(8)
      buffer.writeBigUInt64LE(BigInt(value))
      return buffer.subarray(0, bytes)
    }),
  )

const field = numbers([0x5455, 2], [5, 2], [1, 8]).subarray(0, 9)
// A file of an archive, and its unusual fields.
const long = `x${Array.from({ length: 100_000 }, (_, n) => `é${(n * 7919) % 10_007}`).join('')}`
const two = [
  { name: 'xl\\Sheet1.xml', content: long, extra: field, comment: 'PK\u0001\u0002 is none' },
  { name: 'b.xml', content: 'second' },
]

describe('an archive', () => {
  it.each([0, 8])('has its files complete, whatever lies beside them: method %i', async (method) => {
    const files = two.map((file) => ({ ...file, method }))
    const found = { 'xl/sheet1.xml': long, 'b.xml': 'second' }
    expect(await read(archiveOf(files))).toEqual(found)
    expect(await read(archiveOf(files, 'c'.repeat(65_535)))).toEqual(found)
  })

  it.each<[File['wide']]>([
    [['offset']],
    [['compressed']],
    [['compressed', 'offset']],
    [['size', 'offset']],
    [['size', 'compressed', 'offset']],
  ])('has 64-bit sizes and places, in an extra field if they do not fit: %j', async (wide) => {
    const files = two.map((file) => ({ ...file, wide: wide ?? [], method: 0 }))
    expect(await read(archiveOf(files))).toEqual({ 'xl/sheet1.xml': long, 'b.xml': 'second' })
  })

  it('that cannot be read reports why', async () => {
    const whole = archiveOf(two)
    const one = { name: 'a', content: 'text' }
    expect(await read(whole.subarray(0, -1))).toMatch(/is incomplete: its end is missing/)
    expect(await read(Buffer.alloc(10))).toMatch(/is incomplete: its end is missing/)
    expect(await read(archiveOf([{ ...one, flags: 1 }]))).toBe('is encrypted')
    expect(await read(archiveOf([{ ...one, method: 12 }]))).toMatch(/a in an unsupported compression/)
    for (const method of [0, 8]) expect(await read(archiveOf([{ ...one, method, checksum: 1 }]))).toMatch(/damaged a/)
    const damaged = (signature: string, at: number, value: number): Promise<unknown> => {
      const archive = archiveOf([{ ...one, content: long }])
      archive.writeUInt32LE(value, archive.lastIndexOf(`PK${signature}`) + at)
      return read(archive)
    }
    const [local, entry, end] = ['\u0003\u0004', '\u0001\u0002', '\u0005\u0006']
    expect(await damaged(local, 0, 0)).toBe('has no a')
    expect(await damaged(local, 1000, 0)).toBe('has a damaged a')
    // In the directory: other fields, before that of ZIP64.
    for (const place of [0x7fffffff, 0xffffffff]) expect(await damaged(entry, 42, place)).toBe('has no a')
    expect(await damaged(entry, 28, 0xffff)).toMatch(/directory that cannot be read/)
    expect(await damaged(end, 16, 0x7fffffff)).toMatch(/directory that cannot be read/)
    const large = Array.from({ length: 17 }, () => ({ ...one, comment: 'c'.repeat(65_535) }))
    expect(await read(archiveOf(large))).toMatch(/directory that cannot be read/)
    expect(await read(archiveOf([{ ...one, extra: field.subarray(0, 3) }]))).toEqual({ a: 'text' })
  })

  it('is inflated only as far as requested', async () => {
    const bytes = Buffer.byteLength(long)
    expect(await read(archiveOf(two), bytes)).toMatchObject({ 'b.xml': 'second' })
    expect(await read(archiveOf(two), bytes - 1)).toMatch(/inflates to more than/)
  })
})

/** Which of size, compressed size and offset are in the ZIP64 field. */
interface File {
  name: string
  content: string
  method?: number
  flags?: number
  /** In the directory: other fields, which come before that of ZIP64. */
  extra?: Buffer
  comment?: string
  /** A local header may have other extra fields than the directory. */
  wide?: ('size' | 'compressed' | 'offset')[]
  checksum?: number
}

/** The files of an archive by name, or the error. */
function archiveOf(files: File[], comment = ''): Buffer {
  const locals: Buffer[] = []
  const directory: Buffer[] = []
  let at = 0
  for (const file of files) {
    const { name, content, method = 8, flags = 0, extra = Buffer.alloc(0), wide = [] } = file
    const bytes = Buffer.from(content)
    const packed = method === 8 ? deflateRawSync(bytes) : bytes
    const checksum = file.checksum ?? crc32(bytes)
    const own = { size: bytes.length, compressed: packed.length, offset: at }
    const said = (field: keyof typeof own): number => (wide.includes(field) ? 0xffffffff : own[field])
    const fields = wide.map((field) => numbers([own[field], 8]))
    const wider = wide.length > 0 ? [numbers([1, 2], [8 * wide.length, 2]), ...fields] : []
    const extras = Buffer.concat([extra, ...wider])
    const common = numbers([20, 2], [flags, 2], [method, 2], [0, 4], [checksum, 4])
    // Longer than an inflated piece, with letters across the pieces' ends; it does not shrink to almost nothing.
    const local = numbers([packed.length, 4], [bytes.length, 4], [name.length, 2], [6, 2])
    const sizes = numbers([said('compressed'), 4], [said('size'), 4], [name.length, 2], [extras.length, 2])
    const rest = numbers([file.comment?.length ?? 0, 2], [0, 8], [said('offset'), 4])
    locals.push(Buffer.from('PK\u0003\u0004'), common, local, Buffer.from(`${name}beside`), packed)
    directory.push(Buffer.from('PK\u0001\u0002'), numbers([20, 2]), common, sizes, rest, Buffer.from(name), extras)
    directory.push(Buffer.from(file.comment ?? ''))
    at = Buffer.concat(locals).length
  }
  const entries = Buffer.concat(directory)
  const count = files.length
  const end = numbers([0, 4], [count, 2], [count, 2], [entries.length, 4], [at, 4], [comment.length, 2])
  return Buffer.concat([...locals, entries, Buffer.from('PK\u0005\u0006'), end, Buffer.from(comment)])
}

/** Positions behind the end, and a 64-bit one without a field. */
async function read(archive: Buffer, inflatedMax = 1e9): Promise<Record<string, string> | string> {
  const chunk: ReadChunk = (position) => {
    const bytes = archive.subarray(position * chunkBytes, (position + 1) * chunkBytes)
    return Promise.resolve(bytes.length === 0 ? null : bytes)
  }
  try {
    const found: Record<string, string> = {}
    for (const [name, entry] of await readDirectory(chunk, archive.length)) {
      found[name] = ''
      for await (const text of readEntry(chunk, entry, inflatedMax)) found[name] += text
    }
    return found
  } catch (error) {
    if (error instanceof ZipError) return error.message
    throw error
  }
}
