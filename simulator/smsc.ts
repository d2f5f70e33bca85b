import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import {
  type BindPdu,
  COMMANDS,
  ESME,
  type MessageRequest,
  type Respond,
  Session,
  type SessionOptions,
} from '@heliogram/smpp'
import type { Carrier } from './carrier.ts'
import { writeHeader } from './header.ts'
import type { Delivery } from './mailbox.ts'
import type { Mailboxes } from './mailboxes.ts'
import type { Faults, SimulatorSettings } from './options.ts'
import type { Counters } from './stats.ts'

/** Our name in every bind_resp. */
const SYSTEM_ID = 'simulator'

/** How long close() waits for answers that are under way. */
const DRAIN_MS = 500

/** What the door needs of those behind it. */
export interface SmscContext {
  readonly settings: SimulatorSettings
  readonly faults: Faults
  readonly counters: Counters
  readonly carrier: Carrier
  readonly mailboxes: Mailboxes
}

/**
 * The SMPP door: accepts connections, decides on binds, and hands submits to the carrier. It keeps the socket of every
 * session, as much of its mischief is bytes that no session would send.
 */
export class Smsc {
  readonly #context: SmscContext
  readonly #sockets = new Map<Session<Delivery>, Socket>()
  #server: Server | undefined

  constructor(context: SmscContext) {
    this.#context = context
  }

  /** Open sessions, bound or not. */
  get sessions(): Session<Delivery>[] {
    return [...this.#sockets.keys()]
  }

  /** Listens, and answers with the port. Rejects with EADDRINUSE when it is taken. */
  async listen(host: string, port: number): Promise<number> {
    const server = createServer({ noDelay: true }, (socket) => this.#accept(socket))
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen({ host, port }, resolve)
    })
    this.#server = server
    return (server.address() as AddressInfo).port
  }

  /** Unbinds every session and takes no more. */
  async close(): Promise<void> {
    const server = this.#server
    this.#server = undefined
    if (server === undefined) return
    const stopped = new Promise((resolve) => server.close(resolve))
    await Promise.all(this.sessions.map((session) => session.unbind(DRAIN_MS)))
    await stopped
  }

  /** Writes bytes to a session's socket, whether they are SMPP or not. */
  writeRaw(session: Session<Delivery>, bytes: Buffer): void {
    this.#sockets.get(session)?.write(bytes)
  }

  /** Sends a generic_nack, which sessions do not send by themselves. */
  nack(session: Session<Delivery>, command_status: number, sequence_number: number): void {
    this.writeRaw(session, writeHeader(COMMANDS.generic_nack.id, command_status, sequence_number))
  }

  #accept(socket: Socket): void {
    const { settings, counters, carrier, mailboxes } = this.#context
    const options: SessionOptions<Delivery> = {
      windowMax: settings.windowMax,
      responseTimeoutMs: settings.deliverTimeoutMs,
      // Latency leaves many submits unanswered, and some are never answered on purpose.
      unansweredMax: Number.MAX_SAFE_INTEGER,
      onRequest: (session, pdu, respond) => answerRequest(carrier, session, pdu, respond),
      onOutcome: (session, delivery, outcome) => mailboxes.of(session.systemId).settle(delivery, outcome),
      onRoom: (session) => mailboxes.of(session.systemId).flush(),
      onState: (session, state) => {
        if (state === 'bound') {
          counters.binds++
          if (session.mode !== 'transmitter') mailboxes.bound(session.systemId).open(session)
        } else if (session.mode !== undefined) mailboxes.of(session.systemId).close(session)
        if (state === 'closed') this.#sockets.delete(session)
      },
    }
    const session = new Session(socket, options, {
      role: 'server',
      systemId: SYSTEM_ID,
      onBind: (session, bind) => this.#decideBind(session, bind),
    })
    this.#sockets.set(session, socket)
  }

  #decideBind(session: Session<Delivery>, bind: BindPdu): number | Promise<number> {
    const { settings, faults, counters } = this.#context
    const fault = faults.bind
    if (fault === 'silent' || fault === 'nack') {
      if (fault === 'nack') this.nack(session, ESME.RINVCMDID, bind.sequence_number)
      return new Promise(() => {})
    }
    const status = fault === 'accept' ? checkCredentials(settings.credentials, bind) : ESME[fault]
    if (status !== ESME.ROK) counters.bindsRefused++
    return status
  }
}

function checkCredentials(credentials: SimulatorSettings['credentials'], bind: BindPdu): number {
  if (credentials === undefined) return ESME.ROK
  const password = Object.hasOwn(credentials, bind.system_id) ? credentials[bind.system_id] : undefined
  if (password === undefined) return ESME.RINVSYSID
  return password === bind.password ? ESME.ROK : ESME.RINVPASWD
}

/** Messages go to the carrier; of what became of one, and of taking one back, it knows nothing. */
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
