/** How pg connects: one host as usual, or the current primary of several. */
import { Socket, isIP } from 'node:net'
import type { ConnectionOptions } from 'node:tls'
import type { ClientConfig } from 'pg'
import type { Connection } from './connection.ts'
import { asUrl, type Host } from './hosts.ts'
import { primaryOf, type Primary } from './primary.ts'

/** Pg's types lack part of it. */
interface ConnectionConfig {
  ssl?: boolean | ConnectionOptions
}

/** The configuration for pg's clients and pools, and for other libraries. */
export function configOf(connection: Connection): Connection & Pick<ClientConfig, 'stream'> {
  const primary = primaryOf(connection.connectionString)
  if (!primary || connection.connectionString === undefined) return connection
  const stream = (config: ConnectionConfig): Socket => {
    const socket = new LedSocket(primary)
    // Read by pg after it has connected.
    if (config.ssl) config.ssl = identityOf(socket, config.ssl === true ? {} : config.ssl)
    return socket
  }
  return {
    ...connection,
    connectionString: asUrl(connection.connectionString),
    stream: stream as unknown as () => Socket,
  }
}

/** A socket that learns its target when it connects. */
class LedSocket extends Socket {
  host: Host | null = null
  readonly #primary: Primary

  constructor(primary: Primary) {
    super()
    this.#primary = primary
  }

  /** Gets pg's placeholder for several hosts. */
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

/** TLS checks the certificate for the host that was chosen. */
function identityOf(socket: LedSocket, ssl: ConnectionOptions): ConnectionOptions {
  return {
    ...ssl,
    // Not enumerable in pg, so missing from the spread.
    ...(ssl.key !== undefined && { key: ssl.key }),
    get host() {
      return socket.host?.hostname
    },
    // IP addresses have no server name (RFC 6066 §3).
    get servername() {
      return isIP(socket.host?.hostname ?? '') ? undefined : socket.host?.hostname
    },
  }
}
