import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import { peerOf } from './newcomers.ts'

/** TLS of a server: PEM. With `ca` a client must show a certificate that it signed. */
export interface ServerTls {
  readonly cert: string | Buffer
  readonly key: string | Buffer
  readonly ca?: string | Buffer
}

/** Where to listen: port 0 takes a free one. */
export interface ListenOptions {
  readonly host: string
  readonly port: number
  /** Plain TCP when left out. */
  readonly tls?: ServerTls
}

/** Who may connect. */
export interface ListenerOptions {
  /** How long agreeing upon TLS may take. */
  readonly handshakeTimeoutMs: number
  /** Connections above this are dropped as they come; any number when left out. */
  readonly connectionsMax?: number
  /** Whether a connection is taken, before anything is agreed upon; any is when left out. */
  readonly mayEnter?: (socket: Socket) => boolean
  /** Told of each connection above `connectionsMax`, by its address. */
  readonly onDrop?: (address: string) => void
  /** Takes a connection that has agreed upon TLS, where there is any. */
  readonly onConnection: (socket: Socket) => void
}

/** A port, and the connections that have not agreed upon TLS yet. Lives until close(). */
export class Listener {
  readonly #options: ListenerOptions
  /** By the peer's address: they are nobody's session, but the server waits for their end. */
  readonly #unagreed = new Map<string, Socket>()
  #server: Server | undefined

  constructor(options: ListenerOptions) {
    this.#options = options
  }

  /** Listens, and answers with the port. Rejects when it cannot. */
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
      // Node tells of a handshake that takes too long, and keeps the connection, which is one of connectionsMax.
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

  /** Takes no more connections, and resolves when all are closed; those that it has handed over are for others to end. */
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
