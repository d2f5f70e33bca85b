import { connect as connectTcp, type LookupFunction, type Socket } from 'node:net'
import { connect as connectTls, type ConnectionOptions } from 'node:tls'
import type { BindFields } from './options.ts'
import { Session, type SessionOptions } from './session.ts'

/** The certificate is verified for `servername`, by default the host dialled. */
export interface ClientTls {
  readonly servername?: string
  readonly ca?: string | Buffer | (string | Buffer)[]
  readonly cert?: string | Buffer
  readonly key?: string | Buffer
  /** False trusts any certificate. Default true. */
  readonly rejectUnauthorized?: boolean
}

export interface ConnectOptions<C> extends SessionOptions<C> {
  readonly host: string
  readonly port: number
  /** Default: plain TCP. */
  readonly tls?: ClientTls
  /** Replaces `dns.lookup`. */
  readonly lookup?: LookupFunction
  readonly bind: BindFields
}

/**
 * Dials a server and binds. Returns the session immediately, still connecting; onState reports its progress, and 'closed' with a reason if it
 * cannot be reached or refuses the bind.
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
