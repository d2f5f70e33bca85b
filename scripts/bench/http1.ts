/**
 * Just enough HTTP/1.1 framing for the two cheap ends of the benchmark: heads and Content-Length bodies.
 * node:http would cost more per request than some of what is measured.
 */

/** One whole HTTP message inside a buffer: [start, headEnd) is the head with its empty line, [headEnd, end) the body. */
export type Frame = { bytes: Buffer; start: number; headEnd: number; end: number }

const emptyLine = Buffer.from('\r\n\r\n')
const empty = Buffer.alloc(0)

/** Returns a reader for one connection's chunks; it calls `take` for each complete message and keeps the incomplete tail. */
export function createHttpReader(take: (frame: Frame) => void): (chunk: Buffer) => void {
  let tail: Buffer = empty
  return (chunk) => {
    const bytes = tail.length === 0 ? chunk : Buffer.concat([tail, chunk])
    let start = 0
    while (start < bytes.length) {
      const lineAt = bytes.indexOf(emptyLine, start)
      if (lineAt < 0) break
      const headEnd = lineAt + 4
      const end = headEnd + readContentLength(bytes.toString('latin1', start, headEnd))
      if (end > bytes.length) break
      take({ bytes, start, headEnd, end })
      start = end
    }
    tail = start === bytes.length ? empty : bytes.subarray(start)
  }
}

/** Reads the body's length from a head; throws on a chunked body, which neither product uses. */
function readContentLength(head: string): number {
  const found = /\r\ncontent-length: *(\d+)/i.exec(head)
  if (found !== null) return Number(found[1])
  if (/\r\ntransfer-encoding:/i.test(head)) throw new Error(`a chunked body is not understood:\n${head}`)
  return 0
}
