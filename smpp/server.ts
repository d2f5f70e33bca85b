import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import { type BindPdu, SESSION_DEFAULTS, type SessionOptions } from './options.ts'
import { Session } from './session.ts'

/** TLS of a server: PEM. With `ca` a client must show a certificate that it signed. */
export interface ServerTls {
  readonly cert: string | Buffer
  readonly key: string | Buffer
  readonly ca?: string | Buffer
}

/** What a server accepts, and the options of every session that it accepts. */
export interface ServerOptions<C> extends SessionOptions<C> {
  /** Name in every bind_resp. Default 'heliogram'; 15 characters by the specification. */
  readonly systemId?: string
  /** Connections above this are dropped as they come. Default 1000. */
  readonly sessionsMax?: number
  /** Answers the command_status for a bind from a network address: ESME.ROK lets it in, any other refuses it and closes. */
  readonly onBind: (session: Session<C>, bind: BindPdu, address: string) => number | Promise<number>
}

/** Where to listen: port 0 takes a free one. */
export interface ListenOptions {
  readonly host: string
  readonly port: number
  /** Plain TCP when left out. */
  readonly tls?: ServerTls
}

/** Accepts SMPP sessions. A connection that does not bind within bindTimeoutMs is closed. */
export class SmppServer<C> {
  /** Every open session, bound or not. */
  readonly sessions: Set<Session<C>> = new Set()
  readonly #options: ServerOptions<C>
  /** Connections that have not agreed upon TLS yet, by the peer's address: no session, but the listener waits for their end. */
  readonly #unagreed = new Map<string, Socket>()
  #server: Server | undefined

  constructor(options: ServerOptions<C>) {
    this.#options = options
  }

  /** Listens, and answers with the port. Rejects when it cannot. */
  async listen({ host, port, tls }: ListenOptions): Promise<number> {
    const accept = (socket: Socket): void => this.#accept(socket)
    const handshakeTimeout = this.#options.bindTimeoutMs ?? SESSION_DEFAULTS.bindTimeoutMs
    const server =
      tls === undefined
        ? createTcpServer({ noDelay: true }, accept)
        : createTlsServer(
            { ...tls, requestCert: tls.ca !== undefined, handshakeTimeout, minVersion: 'TLSv1.2' },
            accept,
          )
    if (tls !== undefined) {
      server.on('connection', (socket) => this.#awaitTls(socket))
      // Node tells of a handshake that takes too long, and keeps the connection, which is one of sessionsMax.
      server.on('tlsClientError', (_error: Error, socket: Socket) => socket.destroy())
    }
    server.maxConnections = this.#options.sessionsMax ?? 1_000
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

  /** Takes no more connections, unbinds every session within `drainMs`, and resolves when all are closed. */
  async close(drainMs: number = 0): Promise<void> {
    const server = this.#server
    this.#server = undefined
    const stopped = server && new Promise((resolve) => server.close(resolve))
    for (const socket of this.#unagreed.values()) socket.destroy()
    await Promise.all([...this.sessions].map((session) => session.unbind(drainMs)))
    await stopped
  }

  #awaitTls(socket: Socket): void {
    const peer = peerOf(socket)
    this.#unagreed.set(peer, socket)
    socket.once('close', () => this.#unagreed.get(peer) === socket && this.#unagreed.delete(peer))
  }

  #accept(socket: Socket): void {
    this.#unagreed.delete(peerOf(socket))
    const { systemId = 'heliogram', onBind, onState, ...rest } = this.#options
    const options: SessionOptions<C> = {
      ...rest,
      onState: (session, state, reason) => {
        if (state === 'closed') this.sessions.delete(session)
        onState?.(session, state, reason)
      },
    }
    // Asked now: a socket that is gone has no address.
    const address = socket.remoteAddress ?? ''
    this.sessions.add(
      new Session(socket, options, {
        role: 'server',
        systemId,
        onBind: (session, bind) => onBind(session, bind, address),
      }),
    )
  }
}

/** A connection's other end, which its socket and the TLS over it both know. */
function peerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`
}
