import { connect as connectTcp, type LookupFunction, type Socket } from 'node:net'
import { connect as connectTls, type ConnectionOptions } from 'node:tls'
import type { BindFields } from './options.ts'
import { Session, type SessionOptions } from './session.ts'

/** TLS towards a server. The certificate is verified for `servername`, by default the host dialled. */
export interface ClientTls {
  readonly servername?: string
  /** Trusted instead of the system's authorities: PEM. */
  readonly ca?: string | Buffer | (string | Buffer)[]
  /** Our own certificate and key, where the carrier asks for them: PEM. */
  readonly cert?: string | Buffer
  readonly key?: string | Buffer
  /** False trusts any certificate. Default true. */
  readonly rejectUnauthorized?: boolean
}

/** Where to dial, and as whom to bind. */
export interface ConnectOptions<C> extends SessionOptions<C> {
  readonly host: string
  readonly port: number
  /** Plain TCP when left out. */
  readonly tls?: ClientTls
  /** In place of `dns.lookup`. */
  readonly lookup?: LookupFunction
  readonly bind: BindFields
}

/**
 * Dials a server and binds. Answers the session at once, still connecting; onState tells what becomes of it, down to
 * 'closed' with a reason when it cannot be reached or refuses the bind.
 */
export function connectSession<C>(options: ConnectOptions<C>): Session<C> {
  return new Session(dial(options), options, { role: 'client', bind: options.bind })
}

function dial<C>({ host, port, tls, lookup }: ConnectOptions<C>): Socket {
  const where = { host, port, ...(lookup && { lookup }) }
  if (tls === undefined) return connectTcp({ ...where, noDelay: true })
  const options: ConnectionOptions = { ...where, minVersion: 'TLSv1.2', ...tls }
  return connectTls(options)
}
