/** How pg reaches what a connection names: one host as it does by itself, of several the one that is the primary as the connection is made. */
import { Socket, isIP } from 'node:net'
import type { ConnectionOptions } from 'node:tls'
import type { ClientConfig } from 'pg'
import type { Connection } from './connection.ts'
import { asUrl, type Host } from './hosts.ts'
import { primaryOf, type Primary } from './primary.ts'

/** What pg's connections are made with; its types know only part of it. */
interface ConnectionConfig {
  ssl?: boolean | ConnectionOptions
}

/** A connection as a configuration of pg, for its clients and its pools and those of others. */
export function configOf(connection: Connection): Connection & Pick<ClientConfig, 'stream'> {
  const primary = primaryOf(connection.connectionString)
  if (!primary || connection.connectionString === undefined) return connection
  const stream = (config: ConnectionConfig): Socket => {
    const socket = new LedSocket(primary)
    // Read by pg when it is connected.
    if (config.ssl) config.ssl = identityOf(socket, config.ssl === true ? {} : config.ssl)
    return socket
  }
  return {
    ...connection,
    connectionString: asUrl(connection.connectionString),
    stream: stream as unknown as () => Socket,
  }
}

/** A socket that is told where it leads when it is to be connected. */
class LedSocket extends Socket {
  host: Host | null = null
  readonly #primary: Primary

  constructor(primary: Primary) {
    super()
    this.#primary = primary
  }

  /** The host and port that pg says stand for several. */
  override connect(): this {
    this.#primary.lead(this).then(
      (host) => {
        this.host = host
        if (!this.destroyed) super.connect(host.port, host.hostname)
      },
      (error: Error) => this.destroy(error),
    )
    return this
  }
}

/** TLS asks the certificate for the name of the host that the socket has led to. */
function identityOf(socket: LedSocket, ssl: ConnectionOptions): ConnectionOptions {
  return {
    ...ssl,
    // Hidden by pg, and so not among the others.
    ...(ssl.key !== undefined && { key: ssl.key }),
    get host() {
      return socket.host?.hostname
    },
    // Of addresses there is no name to ask for (RFC 6066 §3).
    get servername() {
      return isIP(socket.host?.hostname ?? '') ? undefined : socket.host?.hostname
    },
  }
}
