/** In which encoding a text file is: told by its mark, its caller, or by its bytes. */
import { isAscii, isUtf8 } from 'node:buffer'

export const encodings = ['utf-8', 'utf-16le', 'utf-16be', 'windows-1252'] as const
export type Encoding = (typeof encodings)[number]

// Latin-1 in the world outside is Windows-1252 (WHATWG Encoding §4.2).
const labels: Record<string, Encoding> = {
  'utf-8': 'utf-8',
  utf8: 'utf-8',
  'us-ascii': 'utf-8',
  'utf-16': 'utf-16le',
  'utf-16le': 'utf-16le',
  'utf-16be': 'utf-16be',
  'windows-1252': 'windows-1252',
  cp1252: 'windows-1252',
  'iso-8859-1': 'windows-1252',
  latin1: 'windows-1252',
}

/** The encoding that a `charset` parameter names; null: one that is not read here. */
export const encodingOf = (charset: string): Encoding | null => labels[charset.toLowerCase()] ?? null

/** What the first bytes say of the whole file: a mark, or the zeros of UTF-16; null where they say nothing. */
function readMark(bytes: Buffer): Encoding | null {
  const [first, second, third] = bytes
  if (first === 0xff && second === 0xfe) return 'utf-16le'
  if (first === 0xfe && second === 0xff) return 'utf-16be'
  if (first === 0xef && second === 0xbb && third === 0xbf) return 'utf-8'
  const head = bytes.subarray(0, 4096)
  const zeros: [number, number] = [0, 0]
  for (let at = 0; at < head.length; at++) if (head[at] === 0) zeros[at & 1 ? 1 : 0]++
  // Digits and Latin letters have a zero in every second byte, and always in the same ones.
  if (zeros[1] > head.length / 4 && zeros[0] < head.length / 64) return 'utf-16le'
  if (zeros[0] > head.length / 4 && zeros[1] < head.length / 64) return 'utf-16be'
  return null
}

/**
 * Looks at a file as it passes: what is UTF-8 throughout is UTF-8, and what is not is Windows-1252, unless most of its letters are
 * UTF-8 (a file glued together from both, of which the wrong rows are then named).
 */
export class EncodingProbe {
  #known: Encoding | null
  #carry: Buffer = Buffer.alloc(0)
  #isFirst = true
  #sequences = 0
  #strays = 0

  /** `declared`: what the caller says, which is believed. */
  constructor(declared: Encoding | null = null) {
    this.#known = declared
  }

  /** What the file is as far as it has been seen. */
  get encoding(): Encoding {
    return this.#known ?? (this.#strays > this.#sequences ? 'windows-1252' : 'utf-8')
  }

  add(bytes: Buffer): void {
    if (this.#isFirst) this.#known = readMark(bytes) ?? this.#known
    this.#isFirst = false
    if (this.#known || (this.#carry.length === 0 && isAscii(bytes))) return
    const all = Buffer.concat([this.#carry, bytes])
    const end = all.length - openBytes(all)
    this.#carry = all.subarray(end)
    this.#count(all.subarray(0, end))
  }

  /** To be called behind the last byte: a letter that is cut off is a stray. */
  end(): void {
    this.#strays += this.#carry.length
    this.#carry = Buffer.alloc(0)
  }

  #count(bytes: Buffer): void {
    // What stands before a letter that is cut off tells nothing by itself.
    if (isAscii(bytes)) return
    if (isUtf8(bytes)) {
      // How many there are does not matter, only that there are more than strays; one a line would be much.
      this.#sequences += Math.ceil(bytes.length / 64)
      return
    }
    for (let at = 0; at < bytes.length;) {
      const length = lengthOf(bytes[at] ?? 0)
      if (length > 1 && isUtf8(bytes.subarray(at, at + length))) this.#sequences++
      else if (length !== 1) this.#strays++
      at += length > 1 && isUtf8(bytes.subarray(at, at + length)) ? length : 1
    }
  }
}

/** Bytes of the character that begins so; 0 for what begins none. */
function lengthOf(byte: number): number {
  if (byte < 0x80) return 1
  if (byte < 0xc2 || byte > 0xf4) return 0
  return byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4
}

/** Bytes at the end that begin a character whose rest is in the next piece. */
function openBytes(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0
    if ((byte & 0xc0) !== 0x80) return lengthOf(byte) > back ? back : 0
  }
  return 0
}
