import type { Socket } from 'node:net'
import { Listener, type ListenOptions } from './listener.ts'
import { Newcomers } from './newcomers.ts'
import { type BindPdu, SESSION_DEFAULTS } from './options.ts'
import { Session, type SessionOptions } from './session.ts'

export interface ServerOptions<C> extends SessionOptions<C> {
  /** Name in every bind_resp. Default 'heliogram'; at most 15 characters by the specification. */
  readonly systemId?: string
  /** Connections above this are dropped on arrival. Default 1000. */
  readonly sessionsMax?: number
  /** Unbound connections of one network; more are dropped on arrival. Default: no limit. */
  readonly newcomersMax?: number
  /** The network of an address, for `newcomersMax`. Default: the address. */
  readonly networkOf?: (address: string) => string
  readonly onDrop?: (address: string, limit: 'sessions' | 'newcomers') => void
  /** Returns the command_status for a bind: ESME.ROK accepts it, any other refuses it and closes. */
  readonly onBind: (session: Session<C>, bind: BindPdu, address: string) => number | Promise<number>
}

/** Closes connections that do not bind within bindTimeoutMs. */
export class SmppServer<C> {
  readonly sessions: Set<Session<C>> = new Set()
  readonly #options: ServerOptions<C>
  readonly #listener: Listener
  readonly #newcomers: Newcomers

  constructor(options: ServerOptions<C>) {
    this.#options = options
    const { newcomersMax = Number.POSITIVE_INFINITY, networkOf = (address: string) => address, onDrop } = options
    this.#newcomers = new Newcomers(newcomersMax, networkOf)
    this.#listener = new Listener({
      handshakeTimeoutMs: options.bindTimeoutMs ?? SESSION_DEFAULTS.bindTimeoutMs,
      connectionsMax: options.sessionsMax ?? 1_000,
      mayEnter: (socket) => {
        const mayEnter = this.#newcomers.enter(socket)
        if (!mayEnter) onDrop?.(socket.remoteAddress ?? '', 'newcomers')
        return mayEnter
      },
      onDrop: (address) => onDrop?.(address, 'sessions'),
      onConnection: (socket) => this.#accept(socket),
    })
  }

  /** Returns the port. Rejects if it cannot listen. */
  listen(where: ListenOptions): Promise<number> {
    return this.#listener.listen(where)
  }

  /** Accepts no more connections, unbinds every session within `drainMs`, and resolves when all are closed. */
  async close(drainMs: number = 0): Promise<void> {
    const stopped = this.#listener.close()
    await Promise.all([...this.sessions].map((session) => session.unbind(drainMs)))
    await stopped
  }

  #accept(socket: Socket): void {
    const { systemId = 'heliogram', onBind, onState, ...rest } = this.#options
    const options: SessionOptions<C> = {
      ...rest,
      onState: (session, state, reason) => {
        if (state === 'bound') this.#newcomers.leave(socket)
        if (state === 'closed') this.sessions.delete(session)
        onState?.(session, state, reason)
      },
    }
    // Read now: a closed socket has no address.
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
