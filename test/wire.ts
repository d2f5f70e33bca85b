/** HTTP/1.1 by hand, for what no client sends: raw bytes out, one response in, on a connection that is kept if possible. */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { patienceMs } from './until.ts'

export interface RawAnswer {
  /** 0 if it is not HTTP; then the body is everything. */
  status: number
  /** Names in lower case; the last of repeated ones. */
  headers: Map<string, string>
  body: Buffer
  ms: number
}

export interface Exchange {
  /** A response to HEAD has no body, in spite of its length. */
  isHead?: boolean
  /** On a new connection, half-closed after the bytes. */
  isAlone?: boolean
}

/** One connection at a time, reopened after the server closed it. */
export class Wire {
  readonly #port: number
  #socket: Socket | null = null

  constructor(port: number) {
    this.#port = port
  }

  /** Null if the connection was closed without a response. Rejects after 30 s of silence. */
  async exchange(bytes: Buffer, { isHead = false, isAlone = false }: Exchange = {}): Promise<RawAnswer | null> {
    if (isAlone || this.#socket?.destroyed) this.close()
    const isKept = this.#socket !== null
    const socket = (this.#socket ??= await this.#connect())
    const begun = performance.now()
    const read = readAnswer(socket, isHead)
    if (isAlone) socket.end(bytes)
    else socket.write(bytes)
    const answer = await read
    if (isAlone || answer?.headers.get('connection') === 'close') this.close()
    if (answer) return { ...answer, ms: performance.now() - begun }
    this.close()
    // An idle connection may be closed just as a request comes; a new one may not.
    return isKept && !isAlone ? this.exchange(bytes, { isHead }) : null
  }

  close(): void {
    this.#socket?.destroy()
    this.#socket = null
  }

  async #connect(): Promise<Socket> {
    const socket = connect({ port: this.#port, host: '127.0.0.1', noDelay: true, allowHalfOpen: true })
    await once(socket, 'connect')
    // The close that follows reports the error.
    socket.on('error', () => {})
    return socket
  }
}

function readAnswer(socket: Socket, isHead: boolean): Promise<Omit<RawAnswer, 'ms'> | null> {
  return new Promise((resolve, reject) => {
    let bytes: Buffer = Buffer.alloc(0)
    const finish = (isOver: boolean): void => {
      const answer = parse(bytes, isHead, isOver)
      if (!answer && !isOver) return
      clearTimeout(timer)
      socket.off('data', take).off('end', give).off('close', give)
      if (isOver) socket.destroy()
      resolve(answer)
    }
    const take = (chunk: Buffer): void => {
      bytes = bytes.length > 0 ? Buffer.concat([bytes, chunk]) : chunk
      finish(false)
    }
    const give = (): void => finish(true)
    const timer = setTimeout(() => {
      socket.destroy()
      reject(new Error(`no answer within ${patienceMs} ms; so far ${bytes.toString('latin1').slice(0, 300)}`))
    }, patienceMs)
    socket.on('data', take).on('end', give).on('close', give)
  })
}

/** The complete response: by its length, its chunks, or (`isOver`) the end of the connection. */
function parse(bytes: Buffer, isHead: boolean, isOver: boolean): Omit<RawAnswer, 'ms'> | null {
  const end = bytes.indexOf('\r\n\r\n')
  if (end === -1) return null
  const [first = '', ...lines] = bytes.toString('latin1', 0, end).split('\r\n')
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(first)?.[1] ?? 0)
  const rest = bytes.subarray(end + 4)
  // 100 Continue comes before the response.
  if (status === 100) return parse(rest, isHead, isOver)
  const headers = new Map(
    lines.map((line): [string, string] => {
      const colon = line.indexOf(':')
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
    }),
  )
  if (isHead || status === 204 || status === 304) return { status, headers, body: Buffer.alloc(0) }
  const length = headers.get('content-length')
  if (length !== undefined)
    return rest.length >= Number(length) ? { status, headers, body: rest.subarray(0, Number(length)) } : null
  if (headers.get('transfer-encoding') !== 'chunked') return isOver ? { status, headers, body: rest } : null
  const body = joinChunks(rest)
  if (body === 'malformed') return { status: 0, headers, body: bytes }
  return body && { status, headers, body }
}

function joinChunks(bytes: Buffer): Buffer | 'malformed' | null {
  const chunks: Buffer[] = []
  for (let at = 0; ;) {
    const line = bytes.indexOf('\r\n', at)
    if (line === -1) return null
    const size = Number.parseInt(bytes.toString('latin1', at, line), 16)
    if (Number.isNaN(size)) return 'malformed'
    at = line + 2
    if (bytes.length < at + size + 2) return null
    if (size === 0) return Buffer.concat(chunks)
    chunks.push(bytes.subarray(at, at + size))
    at += size + 2
  }
}
