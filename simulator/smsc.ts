import type { Socket } from 'node:net'
import {
  type BindPdu,
  encodePdu,
  ESME,
  Listener,
  type MessageRequest,
  type Outcome,
  type Respond,
  Session,
  type SessionOptions,
} from '@heliogram/smpp'
import type { Agenda } from './agenda.ts'
import type { Carrier } from './carrier.ts'
import type { Certificate } from './certificate.ts'
import { codeOf, type Faults, takeFault } from './faults.ts'
import { nackOf } from './header.ts'
import { Line } from './line.ts'
import type { Delivery } from './mailbox.ts'
import type { Mailboxes } from './mailboxes.ts'
import { STRAY_SEQUENCE, writeReceipt } from './mischief.ts'
import type { SimulatorSettings } from './options.ts'
import type { Counters } from './stats.ts'

const SYSTEM_ID = 'simulator'

/** How long close() waits for outstanding answers. */
const DRAIN_MS = 500

/** Long, so that clients detect an unanswered bind themselves. */
const BIND_TIMEOUT_MS = 120_000

export interface SmscContext {
  readonly settings: SimulatorSettings
  readonly certificate: Certificate | null
  readonly faults: Faults
  readonly counters: Counters
  readonly agenda: Agenda
  readonly carrier: Carrier
  readonly mailboxes: Mailboxes
}

/**
 * The SMPP server: accepts connections, decides binds, and passes submits to the carrier. It keeps each session's line, because much mischief is
 * bytes that no session would send.
 */
export class Smsc {
  readonly #context: SmscContext
  readonly #lines = new Map<Session<Delivery>, Line>()
  readonly #listener: Listener

  constructor(context: SmscContext) {
    this.#context = context
    this.#listener = new Listener({
      handshakeTimeoutMs: BIND_TIMEOUT_MS,
      onConnection: (socket) => this.#accept(socket),
    })
  }

  get sessions(): Session<Delivery>[] {
    return [...this.#lines.keys()]
  }

  /** Returns the port. Rejects with EADDRINUSE if it is taken. */
  listen(host: string, port: number): Promise<number> {
    const { certificate } = this.#context
    return this.#listener.listen({ host, port, ...(certificate && { tls: certificate }) })
  }

  async close(): Promise<void> {
    const stopped = this.#listener.close()
    await Promise.all(this.sessions.map((session) => session.unbind(DRAIN_MS)))
    await stopped
  }

  lineOf(session: Session<Delivery>): Line | undefined {
    return this.#lines.get(session)
  }

  #accept(socket: Socket): void {
    const { settings, faults, counters, carrier, mailboxes } = this.#context
    if (faults.connect === 'drop') return void socket.destroy()
    const options: SessionOptions<Delivery> = {
      windowMax: settings.windowMax,
      responseTimeoutMs: settings.deliverTimeoutMs,
      bindTimeoutMs: BIND_TIMEOUT_MS,
      // Latency leaves many submits unanswered, and some are never answered on purpose.
      unansweredMax: Number.MAX_SAFE_INTEGER,
      onRequest: (session, pdu, respond) => answerRequest(carrier, session, pdu, respond),
      onOutcome: (session, delivery, outcome) => this.#settle(session, delivery, outcome),
      onRoom: (session) => mailboxes.of(session.systemId).flush(),
      onState: (session, state) => {
        if (state === 'bound') {
          counters.binds++
          if (session.mode !== 'transmitter') mailboxes.bound(session.systemId).open(session)
        } else if (session.mode !== undefined) mailboxes.of(session.systemId).close(session)
        if (state === 'closed') this.#lines.delete(session)
      },
    }
    const line = new Line(socket, faults)
    const session = new Session(socket, options, {
      role: 'server',
      systemId: SYSTEM_ID,
      onBind: (session, bind) => this.#decideBind(session, bind),
    })
    this.#lines.set(session, line)
    if (faults.connect === 'half_open') line.kill()
  }

  #decideBind(session: Session<Delivery>, bind: BindPdu): number | Promise<number> {
    const { settings, faults, counters, mailboxes } = this.#context
    const line = this.lineOf(session)
    const fault = takeFault(faults, 'bind')
    if (fault === 'nack') line?.write(nackOf(bind.sequence_number, ESME.RINVCMDID))
    if (fault === 'drop') session.destroy()
    if (fault === 'nack' || fault === 'drop' || fault === 'silent') return new Promise(() => {})
    if (fault === 'deliver_first') {
      const first = mailboxes.of(session.systemId).first?.pdu
      const early = first && encodePdu({ ...first.fields, command: first.command, sequence_number: STRAY_SEQUENCE })
      line?.write(early ?? writeReceipt('0'))
    }
    const isOpen = fault === 'accept' || fault === 'deliver_first'
    const status = isOpen ? this.#judge(settings.credentials, bind) : codeOf(fault)
    if (status !== ESME.ROK) counters.bindsRefused++
    return status
  }

  #judge(credentials: SimulatorSettings['credentials'], { system_id, password }: BindPdu): number {
    if (credentials !== undefined) {
      const right = Object.hasOwn(credentials, system_id) ? credentials[system_id] : undefined
      if (right === undefined) return ESME.RINVSYSID
      if (right !== password) return ESME.RINVPASWD
    }
    const { sessionsMax } = this.#context.faults
    const bound = this.sessions.filter((other) => other.systemId === system_id && other.state === 'bound')
    return sessionsMax > 0 && bound.length >= sessionsMax ? ESME.RALYBND : ESME.ROK
  }

  /** Takes the outcome of a deliver_sm, unless a fault loses the answer. */
  #settle(session: Session<Delivery>, delivery: Delivery, outcome: Outcome): void {
    const { settings, faults, agenda, mailboxes } = this.#context
    const mailbox = mailboxes.of(session.systemId)
    const fault = outcome.kind === 'response' ? takeFault(faults, 'deliver') : 'accept'
    switch (fault) {
      case 'accept':
        return mailbox.settle(delivery, outcome)
      case 'deaf':
        return agenda.after(settings.deliverTimeoutMs, () => mailbox.settle(delivery, { kind: 'timeout' }))
      case 'drop':
        mailbox.settle(delivery, { kind: 'closed', written: true })
        session.destroy()
    }
  }
}

/** Submits go to the carrier; queries and cancellations are refused. */
function answerRequest(carrier: Carrier, session: Session<Delivery>, pdu: MessageRequest, respond: Respond): void {
  switch (pdu.command) {
    case 'submit_sm':
    case 'data_sm':
      return carrier.take(session, pdu, respond)
    case 'query_sm':
      return respond(ESME.RQUERYFAIL)
    case 'cancel_sm':
      return respond(ESME.RCANCELFAIL)
    case 'replace_sm':
      return respond(ESME.RREPLACEFAIL)
    case 'deliver_sm':
      return respond(ESME.RINVCMDID)
  }
}
