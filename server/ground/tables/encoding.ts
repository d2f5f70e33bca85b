/** In which encoding a text file is: told by its mark, its caller, or by its bytes. */
import { isAscii, isUtf8 } from 'node:buffer'
import { ApiError } from '../base/errors.ts'
import { recognize, type Recognized } from './recognize.ts'

// Names that the runtime does not know (WHATWG Encoding §4.2 has the others), or that the world outside means otherwise.
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
// What the runtime has under a name and reads nothing by.
const unread = new Set(['replacement', 'x-user-defined'])

/** What is said to who names another. */
export const notEncoding =
  'must be an encoding in the WHATWG Encoding Standard, such as utf-8, windows-1251 or shift_jis'

/** The encoding that a `charset` parameter or a caller names, by its name in the WHATWG's standard; null: one that is not read here. */
export function encodingOf(charset: string): string | null {
  const label = charset.trim().toLowerCase()
  try {
    const { encoding } = new TextDecoder(otherLabels[label] ?? label)
    return unread.has(encoding) ? null : encoding
  } catch {
    // RangeError is the only way in which it says that it does not know a name.
    return null
  }
}

/** What a content type says of the encoding; null where it says nothing that counts. @throws ApiError `unsupported_media_type` for one that is not read. */
export function charsetOf(contentType: string): string | null {
  const [, name] = /;\s*charset="?([\w.:-]+)/i.exec(contentType) ?? []
  if (name === undefined) return null
  const encoding = encodingOf(name)
  if (encoding === null)
    throw new ApiError('unsupported_media_type', {
      detail: `The charset ${name} is not supported: send the file as UTF-8.`,
    })
  // What is called UTF-8 often is not, and what is shows itself.
  return encoding === 'utf-8' ? null : encoding
}

/** What the first bytes say of the whole file: a mark, or the zeros of UTF-16; null where they say nothing. */
function readMark(bytes: Buffer): string | null {
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

// Lines with letters beyond ASCII that are kept to recognize an encoding by, and the longest of them.
const sampleBytesMax = 4096
const lineBytesMax = 2048

/**
 * Looks at a file as it passes: what is UTF-8 throughout is UTF-8, as is a file glued together of which most letters are (its wrong rows are
 * then named). What else it is its words tell (`recognize.ts`), or they leave it undecided.
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

  /** `declared`: what the caller says, which is believed. */
  constructor(declared: string | null = null) {
    this.#known = declared
  }

  /** What the file is as far as it has been seen; UTF-8 where it is undecided. */
  get encoding(): string {
    if (this.#known) return this.#known
    const found = this.#strays > this.#sequences ? this.#recognize() : null
    return found && 'encoding' in found ? found.encoding : 'utf-8'
  }

  /** What it may be where its bytes do not decide, each with a line as it reads then; null where they do. */
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

  /** To be called behind the last byte: a letter that is cut off is a stray. */
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

  /** Keeps whole lines: letters of several bytes are not cut. */
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
    // The memory of a piece is used again.
    this.#rest = Buffer.from(all.subarray(end, end + lineBytesMax + 1))
  }

  #keepLine(line: Buffer): void {
    // Of a file glued together lines of UTF-8 tell nothing of the others.
    if (line.length > lineBytesMax || isUtf8(line)) return
    this.#sample.push(Buffer.from(line))
    this.#sampleBytes += line.length
  }

  #count(bytes: Buffer): void {
    // The octets before a letter that is cut off prove nothing by themselves.
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

function placeOf(byte: number, bytes: Buffer, from: number): number {
  const at = bytes.indexOf(byte, from)
  return at === -1 ? bytes.length : at
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
