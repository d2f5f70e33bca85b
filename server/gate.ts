/**
 * What answers on a port of this process until it is ready: 503, and when to ask again. It listens before the program is loaded, so it needs
 * next to nothing; the application then takes over its socket, and no connection is refused in between.
 */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { ApiError, problemOf } from './errors.ts'
import { newId, showId } from './ids.ts'

// A start takes some seconds on a busy machine.
const retryAfterSeconds = '2'

/** What listens for an application that is not there yet; `Server.listen` takes it as it is, and so listens on the same socket. */
export interface Handover {
  _handle?: object
}

/** A port that is listened on. */
export class Gate {
  readonly #server: Server

  private constructor(server: Server) {
    this.#server = server
  }

  /** Listens. Null where the port cannot be had: why is told later (`free-ports.ts`), behind what is wrong with the data folder. */
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

  /** Where it listens. */
  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  /** For the `listen` of the application that takes over. Connections that are open get their answer here, and are closed with it. */
  handOver(): Handover {
    const { _handle } = this.#server as Server & Handover
    return _handle ? { _handle } : {}
  }
}

/** The gates of a process, by the setting of their port. */
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
