import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import { peerOf } from './newcomers.ts'

/** PEM. With `ca` a client must show a certificate that it signed. */
export interface ServerTls {
  readonly cert: string | Buffer
  readonly key: string | Buffer
  readonly ca?: string | Buffer
}

export interface ListenOptions {
  readonly host: string
  readonly port: number
  /** Default: plain TCP. */
  readonly tls?: ServerTls
}

export interface ListenerOptions {
  /** Time limit of the TLS handshake. */
  readonly handshakeTimeoutMs: number
  /** Connections above this are dropped on arrival. Default: no limit. */
  readonly connectionsMax?: number
  /** Decides before the TLS handshake. */
  readonly mayEnter?: (socket: Socket) => boolean
  readonly onDrop?: (address: string) => void
  readonly onConnection: (socket: Socket) => void
}

export class Listener {
  readonly #options: ListenerOptions
  /** By the peer's address. They belong to no session, but the server waits for them when it closes. */
  readonly #unagreed = new Map<string, Socket>()
  #server: Server | undefined

  constructor(options: ListenerOptions) {
    this.#options = options
  }

  /** Returns the port. Rejects if it cannot listen. */
  async listen({ host, port, tls }: ListenOptions): Promise<number> {
    const { handshakeTimeoutMs: handshakeTimeout, connectionsMax } = this.#options
    const mayEnter = this.#options.mayEnter ?? (() => true)
    const accept = (socket: Socket): void => {
      if (tls !== undefined || mayEnter(socket)) this.#accept(socket)
      else socket.destroy()
    }
    const server =
      tls === undefined
        ? createTcpServer({ noDelay: true }, accept)
        : createTlsServer(
            { ...tls, requestCert: tls.ca !== undefined, handshakeTimeout, minVersion: 'TLSv1.2' },
            accept,
          )
    if (tls !== undefined) {
      server.on('connection', (socket) => {
        if (mayEnter(socket)) this.#awaitTls(socket)
        else socket.destroy()
      })
      // Node.js reports a handshake timeout but keeps the connection, which counts towards connectionsMax.
      server.on('tlsClientError', (_error: Error, socket: Socket) => socket.destroy())
    }
    if (connectionsMax !== undefined) server.maxConnections = connectionsMax
    server.on('drop', (connection) => this.#options.onDrop?.(connection?.remoteAddress ?? ''))
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen({ host, port }, () => {
        server.off('error', reject)
        resolve()
      })
    })
    this.#server = server
    return (server.address() as AddressInfo).port
  }

  /** Resolves when all connections are closed; the owner must end those that it was given. */
  async close(): Promise<void> {
    const server = this.#server
    this.#server = undefined
    const stopped = server && new Promise((resolve) => server.close(resolve))
    for (const socket of this.#unagreed.values()) socket.destroy()
    await stopped
  }

  #awaitTls(socket: Socket): void {
    const peer = peerOf(socket)
    this.#unagreed.set(peer, socket)
    socket.once('close', () => this.#unagreed.get(peer) === socket && this.#unagreed.delete(peer))
  }

  #accept(socket: Socket): void {
    this.#unagreed.delete(peerOf(socket))
    this.#options.onConnection(socket)
  }
}
