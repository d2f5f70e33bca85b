import type { Socket } from 'node:net'
import { Listener, type ListenOptions } from './listener.ts'
import { type BindPdu, SESSION_DEFAULTS, type SessionOptions } from './options.ts'
import { Session } from './session.ts'

/** What a server accepts, and the options of every session that it accepts. */
export interface ServerOptions<C> extends SessionOptions<C> {
  /** Name in every bind_resp. Default 'heliogram'; 15 characters by the specification. */
  readonly systemId?: string
  /** Connections above this are dropped as they come. Default 1000. */
  readonly sessionsMax?: number
  /** Answers the command_status for a bind from a network address: ESME.ROK lets it in, any other refuses it and closes. */
  readonly onBind: (session: Session<C>, bind: BindPdu, address: string) => number | Promise<number>
}

/** Accepts SMPP sessions. A connection that does not bind within bindTimeoutMs is closed. */
export class SmppServer<C> {
  /** Every open session, bound or not. */
  readonly sessions: Set<Session<C>> = new Set()
  readonly #options: ServerOptions<C>
  readonly #listener: Listener

  constructor(options: ServerOptions<C>) {
    this.#options = options
    this.#listener = new Listener({
      handshakeTimeoutMs: options.bindTimeoutMs ?? SESSION_DEFAULTS.bindTimeoutMs,
      connectionsMax: options.sessionsMax ?? 1_000,
      onConnection: (socket) => this.#accept(socket),
    })
  }

  /** Listens, and answers with the port. Rejects when it cannot. */
  listen(where: ListenOptions): Promise<number> {
    return this.#listener.listen(where)
  }

  /** Takes no more connections, unbinds every session within `drainMs`, and resolves when all are closed. */
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
