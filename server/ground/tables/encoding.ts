/** Detects a text file's encoding: by its byte order mark, its caller, or its bytes. */
import { isAscii, isUtf8 } from 'node:buffer'
import { ApiError } from '../base/errors.ts'
import { recognize, type Recognized } from './recognize.ts'

// Names that the runtime does not know (WHATWG Encoding §4.2 has the others), or that have another meaning in practice.
const otherLabels: Record<string, string> = {
  'us-ascii': 'utf-8',
  ascii: 'utf-8',
  cp932: 'shift_jis',
  cp936: 'gbk',
  cp949: 'euc-kr',
  cp950: 'big5',
  cp874: 'windows-874',
  'mac-roman': 'macintosh',
  macroman: 'macintosh',
}
// Names that the runtime knows but cannot decode.
const unread = new Set(['replacement', 'x-user-defined'])

export const notEncoding =
  'must be an encoding in the WHATWG Encoding Standard, such as utf-8, windows-1251 or shift_jis'

/** An encoding by its WHATWG name; null if unsupported. */
export function encodingOf(charset: string): string | null {
  const label = charset.trim().toLowerCase()
  try {
    const { encoding } = new TextDecoder(otherLabels[label] ?? label)
    return unread.has(encoding) ? null : encoding
  } catch {
    // The runtime throws RangeError for an unknown name.
    return null
  }
}

/** The encoding of a content type; null without a usable one. @throws ApiError `unsupported_media_type` if unsupported. */
export function charsetOf(contentType: string): string | null {
  const [, name] = /;\s*charset="?([\w.:-]+)/i.exec(contentType) ?? []
  if (name === undefined) return null
  const encoding = encodingOf(name)
  if (encoding === null)
    throw new ApiError('unsupported_media_type', {
      detail: `The charset ${name} is not supported: send the file as UTF-8.`,
    })
  // Files declared as UTF-8 often are not, and real UTF-8 is recognized.
  return encoding === 'utf-8' ? null : encoding
}

/** Detects a mark, or the zeros of UTF-16, in the first bytes; null without either. */
function readMark(bytes: Buffer): string | null {
  const [first, second, third] = bytes
  if (first === 0xff && second === 0xfe) return 'utf-16le'
  if (first === 0xfe && second === 0xff) return 'utf-16be'
  if (first === 0xef && second === 0xbb && third === 0xbf) return 'utf-8'
  const head = bytes.subarray(0, 4096)
  const zeros: [number, number] = [0, 0]
  for (let at = 0; at < head.length; at++) if (head[at] === 0) zeros[at & 1 ? 1 : 0]++
  // Digits and Latin letters have a zero in every second byte, at the same parity.
  if (zeros[1] > head.length / 4 && zeros[0] < head.length / 64) return 'utf-16le'
  if (zeros[0] > head.length / 4 && zeros[1] < head.length / 64) return 'utf-16be'
  return null
}

// Limits of the sample of lines with non-ASCII letters.
const sampleBytesMax = 4096
const lineBytesMax = 2048

/**
 * Inspects a file as it passes. It is UTF-8 if valid throughout, or if most letters of a mixed file are (its wrong rows are then reported).
 * Otherwise its words decide (`recognize.ts`), or it stays undecided.
 */
export class EncodingProbe {
  #known: string | null
  #carry: Buffer = Buffer.alloc(0)
  #isFirst = true
  #sequences = 0
  #strays = 0
  #rest: Buffer = Buffer.alloc(0)
  readonly #sample: Buffer[] = []
  #sampleBytes = 0
  #recognized: { bytes: number; found: Recognized } | null = null

  /** `declared`: the caller's encoding, which is trusted. */
  constructor(declared: string | null = null) {
    this.#known = declared
  }

  /** The encoding so far; UTF-8 if undecided. */
  get encoding(): string {
    if (this.#known) return this.#known
    const found = this.#strays > this.#sequences ? this.#recognize() : null
    return found && 'encoding' in found ? found.encoding : 'utf-8'
  }

  /** The candidates if undecided, each with a decoded line; else null. */
  get undecided(): { encoding: string; line: string }[] | null {
    if (this.#known || this.#strays <= this.#sequences) return null
    const found = this.#recognize()
    if ('encoding' in found) return null
    const [line = Buffer.alloc(0)] = this.#sample
    return found.candidates.map((encoding) => ({ encoding, line: new TextDecoder(encoding).decode(line) }))
  }

  add(bytes: Buffer): void {
    if (this.#isFirst) this.#known = readMark(bytes) ?? this.#known
    this.#isFirst = false
    if (this.#known) return
    this.#keep(bytes)
    if (this.#carry.length === 0 && isAscii(bytes)) return
    const all = Buffer.concat([this.#carry, bytes])
    const end = all.length - openBytes(all)
    this.#carry = all.subarray(end)
    this.#count(all.subarray(0, end))
  }

  /** Call it after the last byte: a truncated letter is a stray. */
  end(): void {
    this.#strays += this.#carry.length
    this.#carry = Buffer.alloc(0)
    this.#keepLine(this.#rest)
    this.#rest = Buffer.alloc(0)
  }

  #recognize(): Recognized {
    if (this.#recognized?.bytes !== this.#sampleBytes)
      this.#recognized = { bytes: this.#sampleBytes, found: recognize(Buffer.concat(this.#sample)) }
    return this.#recognized.found
  }

  /** Keeps whole lines, so that multi-byte letters are not cut. */
  #keep(bytes: Buffer): void {
    if (this.#sampleBytes >= sampleBytesMax) return
    const all = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes])
    const end = Math.max(all.lastIndexOf(10), all.lastIndexOf(13)) + 1
    if (!isAscii(all.subarray(0, end)))
      for (let at = 0, feed = -1, back = -1; at < end && this.#sampleBytes < sampleBytesMax;) {
        if (feed < at) feed = placeOf(10, all, at)
        if (back < at) back = placeOf(13, all, at)
        const close = Math.min(feed, back)
        this.#keepLine(all.subarray(at, close + 1))
        at = close + 1
      }
    // The memory of a piece is reused.
    this.#rest = Buffer.from(all.subarray(end, end + lineBytesMax + 1))
  }

  #keepLine(line: Buffer): void {
    // In a mixed file, lines of UTF-8 are no evidence for the others.
    if (line.length > lineBytesMax || isUtf8(line)) return
    this.#sample.push(Buffer.from(line))
    this.#sampleBytes += line.length
  }

  #count(bytes: Buffer): void {
    // Octets before a truncated letter are no evidence alone.
    if (isAscii(bytes)) return
    if (isUtf8(bytes)) {
      // An estimate, to compare with strays; one per line would be many.
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

function placeOf(byte: number, bytes: Buffer, from: number): number {
  const at = bytes.indexOf(byte, from)
  return at === -1 ? bytes.length : at
}

/** Bytes of a character by its first byte; 0 if invalid. */
function lengthOf(byte: number): number {
  if (byte < 0x80) return 1
  if (byte < 0xc2 || byte > 0xf4) return 0
  return byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4
}

/** Bytes at the end that begin an incomplete character. */
function openBytes(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0
    if ((byte & 0xc0) !== 0x80) return lengthOf(byte) > back ? back : 0
  }
  return 0
}
