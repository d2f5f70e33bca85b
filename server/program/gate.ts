/**
 * Answers on a port until the process is ready: 503 with Retry-After. It listens before the program is loaded, so it imports next to
 * nothing; the application then takes over its socket, and no connection is refused in between.
 */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { ApiError, problemOf } from '../ground/base/errors.ts'
import { newId, showId } from '../ground/base/ids.ts'

// A start takes some seconds on a busy machine.
const retryAfterSeconds = '2'

/** A listening handle; `Server.listen` accepts it and listens on the same socket. */
export interface Handover {
  _handle?: object
}

export class Gate {
  readonly #server: Server

  private constructor(server: Server) {
    this.#server = server
  }

  /** Null if the port is taken: `free-ports.ts` reports that later, after faults of the data folder. */
  static async open(host: string, port: number, version: string): Promise<Gate | null> {
    const server = createServer({ headersTimeout: 10_000, requestTimeout: 10_000 }, (request, response) =>
      answer(request, response, version),
    )
    server.listen(port, host)
    try {
      await once(server, 'listening')
      return new Gate(server)
    } catch {
      return null
    }
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  /** For the `listen` of the application. Open connections are answered here, then closed. */
  handOver(): Handover {
    const { _handle } = this.#server as Server & Handover
    return _handle ? { _handle } : {}
  }
}

/** By the setting of their port. */
export interface Gates {
  api: Gate | null
  metrics: Gate | null
}

const starting = new ApiError('unavailable', { detail: 'The service is starting; nothing was done.' })

function answer(request: IncomingMessage, response: ServerResponse, version: string): void {
  request.resume()
  const path = request.url?.replace(/\?.*/, '') ?? ''
  const headers = { 'retry-after': retryAfterSeconds, 'cache-control': 'no-store', connection: 'close' }
  const [type, text] =
    path === '/healthz'
      ? ['application/json', JSON.stringify({ status: 'starting', version, checks: {} })]
      : request.headers.accept?.includes('text/html') === true
        ? [
            'text/html; charset=utf-8',
            `<!doctype html><html lang="en"><meta http-equiv="refresh" content="${retryAfterSeconds}"><title>Heliogram</title><p>Heliogram is starting.</p></html>`,
          ]
        : ['application/problem+json', JSON.stringify(problemOf(starting, path, showId('req', newId())))]
  response.writeHead(503, { ...headers, 'content-type': type, 'content-length': Buffer.byteLength(text) })
  response.end(request.method === 'HEAD' ? undefined : text)
}
