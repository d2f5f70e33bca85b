/** The subset of tar (POSIX.1-1988 ustar) for backups: files with a name and a size. */

const blockBytes = 512
// The limit of a header's twelve octal digits: eight gigabytes; pieces of a backup have a few megabytes.
const sizeMax = 8 ** 11 - 1

export function tarHeader(name: string, size: number, atMs: number): Buffer {
  if (Buffer.byteLength(name) > 100 || size > sizeMax)
    throw new Error(`"${name}" (${size} bytes) does not fit into a tar header`)
  const header = Buffer.alloc(blockBytes)
  const octal = (value: number, digits: number): string => value.toString(8).padStart(digits, '0')
  header.write(name, 0)
  header.write(octal(0o600, 7), 100)
  header.write(octal(0, 7), 108)
  header.write(octal(0, 7), 116)
  header.write(octal(size, 11), 124)
  header.write(octal(Math.floor(atMs / 1000), 11), 136)
  header.write('0', 156)
  header.write('ustar', 257)
  header.write('00', 263)
  header.write(`${octal(checksumOf(header), 6)}\0 `, 148, 'latin1')
  return header
}

/** Fills the last block of a file. */
export const tarPadding = (size: number): Buffer => Buffer.alloc((blockBytes - (size % blockBytes)) % blockBytes)

export const tarEnd: Buffer = Buffer.alloc(2 * blockBytes)

/** The sum of a header's octets, with the checksum field as blanks. */
function checksumOf(header: Buffer): number {
  let sum = 0
  for (const [i, octet] of header.entries()) sum += i >= 148 && i < 156 ? 0x20 : octet
  return sum
}

/** Read its `pieces` to the end before the next file. */
export interface TarFile {
  name: string
  size: number
  pieces: AsyncIterable<Buffer>
}

/** Not an archive, or an incomplete one. */
export class NoTarError extends Error {}

/** Yields the files in order, and reads to the end. @throws NoTarError. */
export async function* readTar(source: AsyncIterable<Buffer>): AsyncGenerator<TarFile> {
  const reader = new PieceReader(source)
  for (;;) {
    const header = await reader.read(blockBytes)
    if (header === null) throw new NoTarError('it is truncated')
    if (header.every((octet) => octet === 0)) break
    const text = (from: number, length: number): string =>
      header.toString('utf8', from, from + length).replace(/\0.*$/s, '')
    if (Number.parseInt(text(148, 8), 8) !== checksumOf(header)) throw new NoTarError('it has an invalid header')
    const [name, size] = [text(0, 100), Number.parseInt(text(124, 12), 8)]
    yield { name, size, pieces: reader.pieces(size) }
    if ((await reader.read(tarPadding(size).length)) === null) throw new NoTarError('it is truncated')
  }
  // Decompression verifies its checksum only at the very end.
  await reader.drain()
}

class PieceReader {
  readonly #iterator: AsyncIterator<Buffer>
  #rest: Buffer = Buffer.alloc(0)

  constructor(source: AsyncIterable<Buffer>) {
    this.#iterator = source[Symbol.asyncIterator]()
  }

  async #next(): Promise<boolean> {
    const { value, done } = await this.#iterator.next()
    if (done === true) return false
    this.#rest = value
    return true
  }

  /** Null if fewer octets are left. */
  async read(length: number): Promise<Buffer | null> {
    const parts: Buffer[] = []
    let missing = length
    while (missing > 0) {
      if (this.#rest.length === 0 && !(await this.#next())) return null
      const part = this.#rest.subarray(0, missing)
      this.#rest = this.#rest.subarray(part.length)
      missing -= part.length
      parts.push(part)
    }
    return Buffer.concat(parts)
  }

  async *pieces(length: number): AsyncGenerator<Buffer> {
    for (let missing = length; missing > 0;) {
      if (this.#rest.length === 0 && !(await this.#next())) throw new NoTarError('it is truncated')
      const part = this.#rest.subarray(0, missing)
      this.#rest = this.#rest.subarray(part.length)
      missing -= part.length
      yield part
    }
  }

  async drain(): Promise<void> {
    while (await this.#next()) continue
  }
}
