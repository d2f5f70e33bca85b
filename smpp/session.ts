import type { Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import { Binding } from './binding.ts'
import { decodeBroken, decodeBrokenDelivery, decodePdu } from './decode.ts'
import { type Enquiries, Heartbeat } from './heartbeat.ts'
import {
  type BindMode,
  type CloseReason,
  type MessageCommand,
  type MessageRequest,
  SESSION_DEFAULTS,
  SessionError,
  type OptionsOf,
  type SessionState,
  type SideOf,
} from './options.ts'
import { commandName, type FieldsInput, isResponseId, type Pdu, PduError, type PduOf, responseTo } from './pdu.ts'
import { ESME, statusName } from './status.ts'
import { PduStream } from './stream.ts'
import { Traffic } from './traffic.ts'
import { type UnbindReason, Unbinding } from './unbinding.ts'
import { lookIntervalMs } from './watch.ts'
import { Wire } from './wire.ts'

export type SessionOptions<C> = OptionsOf<C, Session<C>>

/**
 * One SMPP session over one socket, client or server.
 *
 * Requests go out with `submit`, `deliver` or `request` while the window has room, and each gets exactly one outcome. One timer watches all
 * deadlines. The state becomes 'closed' in the turn that detects the loss, before any outcome is reported.
 */
export class Session<C> {
  readonly role: 'client' | 'server'
  state: SessionState
  mode: BindMode | undefined
  systemId = ''
  peerSystemId = ''
  bindStatus = 0
  closeReason: CloseReason | undefined
  /** Detail of the reason for people, such as ECONNREFUSED, or ''. */
  closeDetail = ''
  /** Ended by an unbind, with all requests answered both ways: the peer has read all that was sent. */
  hasUnbound = false
  /** Unix milliseconds of the last whole PDU read; 0 before the first. */
  lastReadAtMs = 0

  readonly #options: SessionOptions<C> & typeof SESSION_DEFAULTS
  readonly #wire: Wire
  readonly #stream: PduStream
  readonly #binding: Binding<Session<C>>
  readonly #traffic: Traffic<C, Session<C>>
  readonly #unbinding: Unbinding<C, Session<C>>
  readonly #heartbeat: Heartbeat<C>
  readonly #timer: NodeJS.Timeout
  #onBound: (() => void)[] = []
  #onClosed: (() => void)[] = []
  #isSecuring = false
  #pdusRead = 0
  readonly #startedAt = performance.now()

  constructor(socket: Socket, options: SessionOptions<C>, side: SideOf<Session<C>>) {
    const given = { ...SESSION_DEFAULTS, ...options }
    this.#options = given
    this.role = side.role
    this.state = side.role === 'client' ? 'connecting' : 'open'
    this.#stream = new PduStream((bytes, start, end) => this.#readPdu(bytes, start, end))
    this.#wire = new Wire(socket, {
      onBytes: (chunk) => this.#readBytes(chunk),
      onLost: (code) => this.#lose(code),
      onWritten: options.trace === undefined ? undefined : (bytes) => options.trace?.(this, 'out', bytes),
    })
    this.#binding = new Binding<Session<C>>(this, this.#wire, side, (status) => this.#settleBind(status))
    this.#traffic = new Traffic<C, Session<C>>(this, this.#wire, given, () => this.#unbinding.noteIdle())
    this.#heartbeat = new Heartbeat(this.#wire, this.#traffic.window, given, this.#startedAt)
    this.#unbinding = new Unbinding(this.#wire, this.#traffic, (reason, isClean) => {
      this.hasUnbound = isClean
      this.#close(reason, '', true)
    })
    if (side.role === 'client') {
      const isTls = socket instanceof TLSSocket
      socket.once(isTls ? 'secureConnect' : 'connect', () => this.#open())
      if (isTls) socket.once('connect', () => (this.#isSecuring = true))
    }
    this.#timer = setInterval(() => this.#look(performance.now()), lookIntervalMs(given))
  }

  /** Requests that may be sent now; 0 unless bound in a mode that sends. */
  get room(): number {
    const mute = this.role === 'client' ? 'receiver' : 'transmitter'
    return this.state === 'bound' && this.mode !== mute ? this.#traffic.room : 0
  }

  get inFlight(): number {
    return this.#traffic.window.size
  }

  get unanswered(): number {
    return this.#traffic.unanswered
  }

  /** Unix milliseconds of the peer's last answer to an enquire_link; 0 before the first. */
  get lastEnquireAnsweredAtMs(): number {
    return this.#heartbeat.answeredAtMs
  }

  /** Our enquire_link counts: the peer has read all that was sent before an answered one. */
  get enquiries(): Enquiries {
    return this.#heartbeat
  }

  /** Sends an enquire_link on demand. Does nothing if the session is not bound. */
  enquire(): void {
    if (this.mode !== undefined && this.state !== 'closed') this.#heartbeat.ask(performance.now())
  }

  submit(fields: FieldsInput<'submit_sm'>, context: C): boolean {
    return this.request('submit_sm', fields, context)
  }

  deliver(fields: FieldsInput<'deliver_sm'>, context: C): boolean {
    return this.request('deliver_sm', fields, context)
  }

  /** Sends a request with this turn's write; false if there is no room. Throws PduError, and writes nothing, if it cannot be encoded. */
  request<K extends MessageCommand>(command: K, fields: FieldsInput<K>, context: C): boolean {
    if (this.room <= 0) return false
    this.#traffic.send(command, fields, context)
    return true
  }

  /** Sends a PDU without a response; false if the session is not open. */
  notify<K extends 'alert_notification' | 'outbind'>(command: K, fields: FieldsInput<K>): boolean {
    if (this.state !== 'open' && this.state !== 'bound') return false
    this.#wire.send(command, fields, this.#traffic.window.nextSequence(), 0)
    return true
  }

  /** Stops reading, so that TCP holds back the peer. Its silence meanwhile does not count. */
  pause(): void {
    this.#wire.pause('owner')
  }

  resume(): void {
    this.#wire.resume('owner')
  }

  /** Rejects with SessionError if the session closes before it is bound. */
  whenBound(): Promise<void> {
    return new Promise((resolve, reject) => {
      const fail = (): void =>
        reject(new SessionError(this.closeReason ?? 'destroyed', this.closeDetail, this.bindStatus))
      if (this.state === 'closed') return fail()
      if (this.mode !== undefined) return resolve()
      this.#onBound.push(resolve)
      this.#onClosed.push(fail)
    })
  }

  /**
   * Accepts no more requests, waits for all answers in both directions, sends unbind, waits for its answer and closes, all within `drainMs`.
   * Resolves when the session is closed for any reason.
   */
  unbind(drainMs: number): Promise<void> {
    if (this.state === 'bound') this.#startUnbinding('unbound', drainMs)
    else if (this.state === 'unbinding') this.#unbinding.start('unbound', drainMs, performance.now())
    else this.destroy()
    if (this.state === 'closed') return Promise.resolve()
    return new Promise((resolve) => this.#onClosed.push(resolve))
  }

  /** Closes immediately. What was sent in this turn is not written. */
  destroy(reason: CloseReason = 'destroyed', detail = ''): void {
    this.#close(reason, detail, false)
  }

  #open(): void {
    this.#setState('open')
    this.#binding.ask(this.#traffic.window.nextSequence())
  }

  #setState(state: SessionState): void {
    this.state = state
    this.#options.onState?.(this, state)
  }

  #readBytes(chunk: Buffer): void {
    const now = performance.now()
    const before = this.#pdusRead
    const isInStep = this.#stream.push(chunk)
    if (this.state === 'closed') return
    if (!isInStep) {
      this.#wire.send('generic_nack', undefined, 0, ESME.RINVCMDLEN)
      return this.#close('framing_error', '', true)
    }
    const hasRead = this.#pdusRead > before
    if (hasRead) this.lastReadAtMs = Date.now()
    this.#heartbeat.noteRead(now, hasRead, this.#stream.partialOctets)
    if (this.state === 'bound') this.#traffic.offerRoom()
  }

  #readPdu(bytes: Buffer, start: number, end: number): boolean {
    this.#pdusRead++
    this.#options.trace?.(this, 'in', bytes.subarray(start, end))
    let pdu: Pdu
    try {
      pdu = decodePdu(bytes, start, end)
    } catch (error) {
      if (!(error instanceof PduError)) throw error
      this.#readMalformed(error, bytes, start, end)
      return this.state !== 'closed'
    }
    this.#readAny(pdu)
    return this.state !== 'closed'
  }

  /**
   * Refuses an undecodable request, but takes a carrier's delivery without its broken part if its text or receipt is readable. A response still
   * settles its request, from its readable fields.
   */
  #readMalformed(error: PduError, bytes: Buffer, start: number, end: number): void {
    this.#traffic.fault({ kind: 'malformed', error })
    const command = commandName(error.command_id)
    if (isResponseId(error.command_id)) {
      if (command !== undefined) this.#readAny(decodeBroken(bytes, start, end))
      return
    }
    const isDelivery = command === 'deliver_sm' || (command === 'data_sm' && this.role === 'client')
    const delivery = isDelivery ? decodeBrokenDelivery(bytes, start, end) : undefined
    if (delivery) this.#readRequest(delivery)
    else this.#wire.send(responseTo(command), undefined, error.sequence_number, error.status)
  }

  #readAny(pdu: Pdu): void {
    switch (pdu.command) {
      case 'submit_sm_resp':
      case 'deliver_sm_resp':
      case 'data_sm_resp':
      case 'query_sm_resp':
      case 'cancel_sm_resp':
      case 'replace_sm_resp':
        return this.#traffic.settle(pdu)
      case 'submit_sm':
      case 'deliver_sm':
      case 'data_sm':
      case 'query_sm':
      case 'cancel_sm':
      case 'replace_sm':
        return this.#readRequest(pdu)
      case 'enquire_link':
        return void this.#wire.send('enquire_link_resp', undefined, pdu.sequence_number, ESME.ROK)
      case 'enquire_link_resp':
        return this.#heartbeat.readAnswer(pdu.sequence_number)
      case 'generic_nack':
        return this.#readNack(pdu)
      case 'unbind':
        return this.#readUnbind(pdu)
      case 'unbind_resp':
        if (!this.#unbinding.readAnswer(pdu.sequence_number)) this.#traffic.fault({ kind: 'unmatched', pdu })
        return
      case 'bind_transmitter':
      case 'bind_receiver':
      case 'bind_transceiver':
        return this.#binding.readBind(pdu)
      case 'bind_transmitter_resp':
      case 'bind_receiver_resp':
      case 'bind_transceiver_resp':
        if (!this.#binding.readAnswer(pdu)) this.#traffic.fault({ kind: 'unmatched', pdu })
        return
      case 'alert_notification':
      case 'outbind':
        this.#options.onNotice?.(this, pdu)
    }
  }

  #readNack(pdu: PduOf<'generic_nack'>): void {
    const { sequence_number: sequence } = pdu
    if (this.#binding.readAnswer(pdu) || this.#unbinding.readAnswer(sequence)) return
    if (!this.#heartbeat.readNack(sequence)) this.#traffic.settle(pdu)
  }

  #readRequest(pdu: MessageRequest): void {
    const { onRequest } = this.#options
    const isBound = this.state === 'bound' || this.state === 'unbinding'
    // A delivery before the answer to our bind must come again, so the refusal is temporary.
    const isEarly = this.role === 'client' && this.state === 'open'
    if (isEarly || !isBound || (this.role === 'server' && this.mode === 'receiver'))
      this.#traffic.refuse(pdu, isEarly ? ESME.RX_T_APPN : ESME.RINVBNDSTS)
    else if (onRequest === undefined) this.#traffic.refuse(pdu, ESME.RINVCMDID)
    else this.#traffic.take(pdu, onRequest)
  }

  #settleBind(status: number): void {
    this.bindStatus = status
    if (status !== ESME.ROK) return this.#close('bind_refused', statusName(status), true)
    this.#setState('bound')
    for (const resolve of this.#onBound) resolve()
  }

  #readUnbind(pdu: PduOf<'unbind'>): void {
    this.#unbinding.readUnbind(pdu.sequence_number)
    // If both sides unbind at once, each waits for the other's answer.
    if (this.state === 'bound') this.#startUnbinding('peer_unbound', this.#options.responseTimeoutMs)
    else this.#unbinding.start('peer_unbound', this.#options.responseTimeoutMs, performance.now())
  }

  #startUnbinding(reason: UnbindReason, drainMs: number): void {
    this.#setState('unbinding')
    this.#unbinding.start(reason, drainMs, performance.now())
  }

  #look(now: number): void {
    const { bindTimeoutMs, responseTimeoutMs } = this.#options
    if (this.mode === undefined && now - this.#startedAt >= bindTimeoutMs) return this.#close('bind_timeout', '', false)
    const isBehind = this.#heartbeat.isBehind(now)
    if (!isBehind) this.#traffic.expire(now - responseTimeoutMs)
    this.#unbinding.look(now)
    if (this.state === 'closed') return
    const end = isBehind ? undefined : this.#heartbeat.look(now, this.state === 'bound')
    if (end !== undefined) return this.#close(end, '', false)
    if (this.state === 'bound') this.#traffic.offerRoom()
  }

  #lose(code: string): void {
    if (this.#unbinding.reason !== undefined) this.#close(this.#unbinding.reason, code, false)
    else if (this.state === 'connecting') this.#close(this.#isSecuring ? 'tls_failed' : 'connect_failed', code, false)
    else this.#close(code === '' ? 'peer_closed' : 'socket_error', code, false)
  }

  #close(reason: CloseReason, detail: string, isPolite: boolean): void {
    if (this.state === 'closed') return
    this.state = 'closed'
    this.closeReason = reason
    this.closeDetail = detail
    clearInterval(this.#timer)
    if (isPolite) this.#wire.finish()
    else this.#wire.destroy()
    this.#traffic.abandon()
    this.#options.onState?.(this, 'closed', reason)
    for (const resolve of this.#onClosed) resolve()
  }
}
