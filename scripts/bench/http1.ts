/**
 * Just enough HTTP/1.1 framing for the benchmark's two cheap ends: heads and Content-Length bodies. node:http would cost more per request than
 * some measured parts.
 */

/** One HTTP message in a buffer: [start, headEnd) is the head with its empty line, [headEnd, end) the body. */
export type Frame = { bytes: Buffer; start: number; headEnd: number; end: number }

const emptyLine = Buffer.from('\r\n\r\n')
const empty = Buffer.alloc(0)

/** A reader for one connection; calls `take` for each complete message and keeps an incomplete tail. */
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

/** Throws for a chunked body, which neither product uses. */
function readContentLength(head: string): number {
  const found = /\r\ncontent-length: *(\d+)/i.exec(head)
  if (found !== null) return Number(found[1])
  if (/\r\ntransfer-encoding:/i.test(head)) throw new Error(`a chunked body is not understood:\n${head}`)
  return 0
}
