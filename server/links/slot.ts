import {
  connectSession,
  ESME,
  type BindMode,
  type CloseReason,
  type MessageRequest,
  type Outcome,
  type Respond,
  type ResponsePdu,
  type Session,
} from '@heliogram/smpp'
import { now, nowMs } from '../ground/db/clock.ts'
import { noLosses, type Losses } from './backoff.ts'
import { lookUp } from './look-up.ts'
import type { SmppSettings } from './carrier-settings.ts'

/** Why a slot is not, or no longer, bound. */
export interface SlotLoss {
  reason: CloseReason
  detail: string
  bindStatus: number
  wasBound: boolean
  /** It was bound so long that earlier trouble is over. */
  wasSteady: boolean
}

export interface SlotOptions<C> {
  settings: SmppSettings
  password: string
  onBound: (slot: Slot<C>) => void
  onLost: (slot: Slot<C>, loss: SlotLoss) => void
  onOutcome: (context: C, outcome: Outcome) => void
  onLateResponse: (context: C, response: ResponsePdu) => void
  onRequest: (session: Session<C>, pdu: MessageRequest, respond: Respond) => void
  /** There is room, or there will be none any more. */
  onRoom: () => void
  onFault: (kind: string) => void
  trace: ((direction: 'in' | 'out', bytes: Buffer) => void) | undefined
}

// SMPP 3.4 §5.2.2, without the NUL.
const passwordMax = 8
// After this long a session was good: the back-off restarts.
const steadyMs = 10_000
// How long the other session of a slot may take to finish its submits if the first was cut off: the slot waits for a new dial.
const drainMsMax = 5_000
// Submits in a row that are refused as if we were not bound: the first is sent again, so one message is enough.
const forgottenAfter = 2

export class Slot<C> {
  /** Counted from 1, over all processes. */
  readonly number: number
  /** Since when it is bound. */
  boundAt: Date = new Date(0)
  losses: Losses = noLosses()
  /** The next permitted dial, in monotonic milliseconds. */
  retryAt = 0
  isClosing = false
  readonly #options: SlotOptions<C>
  #sessions: Session<C>[] = []
  /** Since the last dial. */
  #hasBound = false
  /** Submits in a row that were refused as if we were not bound. */
  #notBound = 0
  #isForgotten = false
  /** The end of the first session, until the other has ended. */
  #loss: SlotLoss | null = null

  constructor(number: number, options: SlotOptions<C>) {
    this.number = number
    this.#options = options
  }

  get state(): 'down' | 'binding' | 'bound' {
    if (this.#sessions.length === 0) return 'down'
    return this.#sessions.every((session) => session.state === 'bound') ? 'bound' : 'binding'
  }

  /** Whether a session is being bound; false for one that drains. */
  get isDialling(): boolean {
    return this.#sessions.some(({ state }) => state === 'connecting' || state === 'open')
  }

  /** Sessions that are bound. */
  get sessions(): number {
    return this.#sessions.filter((session) => session.state === 'bound').length
  }

  /** The session that submits; none until every session is bound, so that receipts can come. */
  get transmitter(): Session<C> | undefined {
    const [first, second] = this.#sessions
    return first?.state === 'bound' && (second === undefined || second.state === 'bound') ? first : undefined
  }

  get room(): number {
    return this.transmitter?.room ?? 0
  }

  get inFlight(): number {
    return this.#sessions[0]?.inFlight ?? 0
  }

  get lastEnquireAnsweredAtMs(): number {
    return this.#sessions.reduce((last, session) => Math.max(last, session.lastEnquireAnsweredAtMs), 0)
  }

  /** @throws if its settings are unusable, such as an invalid certificate of the authority. */
  dial(): void {
    // The transmitter is first: see above.
    const modes: BindMode[] =
      this.#options.settings.bind === 'transceiver' ? ['transceiver'] : ['transmitter', 'receiver']
    this.#hasBound = false
    this.#notBound = 0
    this.#isForgotten = false
    this.#loss = null
    for (const mode of modes) this.#sessions.push(this.#connect(mode))
  }

  /** Drains the window, unbinds and stays closed; at once with 0. */
  async close(drainMs: number): Promise<void> {
    this.isClosing = true
    if (drainMs === 0) for (const session of this.#sessions) session.destroy()
    else await Promise.all(this.#sessions.map((session) => session.unbind(drainMs)))
  }

  abandon(): void {
    for (const session of this.#sessions.splice(0)) session.destroy()
  }

  #connect(mode: BindMode): Session<C> {
    const { settings, password, trace, onOutcome, onLateResponse, onRequest, onRoom, onFault } = this.#options
    return connectSession<C>({
      host: settings.host,
      port: settings.port,
      lookup: lookUp,
      ...(settings.tls && { tls: settings.tls_ca ? { ca: settings.tls_ca } : {} }),
      bind: { mode, system_id: settings.system_id, password, system_type: settings.system_type },
      windowMax: settings.window,
      responseTimeoutMs: settings.response_timeout_seconds * 1000,
      enquireLinkMs: settings.enquire_link_seconds * 1000,
      enquireTimeoutMs: settings.enquire_timeout_seconds * 1000,
      bindTimeoutMs: settings.bind_timeout_seconds * 1000,
      // A PDU that stays incomplete is as dead as two unanswered heartbeats.
      partialPduMs: settings.enquire_timeout_seconds * 2000,
      onOutcome: (session, context, outcome) => {
        onOutcome(context, outcome)
        if (outcome.kind === 'response') this.#noteStatus(session, outcome.status)
      },
      onLateResponse: (_session, context, response) => onLateResponse(context, response),
      onRequest,
      onRoom,
      onState: (session, state, reason) => {
        if (state === 'bound') this.#noteBound()
        // There will be no more room: waiting messages may go elsewhere, while written ones wait for their answers.
        if (state === 'unbinding') onRoom()
        if (state === 'closed') this.#noteClosed(session, reason ?? 'destroyed')
      },
      onFault: (_session, fault) => onFault(fault.kind),
      ...(trace && {
        trace: (_session: Session<C>, direction: 'in' | 'out', bytes: Buffer) => trace(direction, bytes),
      }),
    })
  }

  #noteBound(): void {
    if (this.state !== 'bound') return
    this.boundAt = now()
    this.#hasBound = true
    this.#options.onBound(this)
  }

  /**
   * A carrier that restarted behind a proxy that keeps connections open has lost our bind, and would refuse every submit forever: so bind again. If
   * it takes other submits, the refusal is about that submit alone. Others may be in flight, and answered.
   */
  #noteStatus(session: Session<C>, status: number): void {
    this.#notBound = status === ESME.RINVBNDSTS ? this.#notBound + 1 : 0
    if (this.#notBound < forgottenAfter || session.state !== 'bound') return
    this.#isForgotten = true
    void session.unbind(this.#options.settings.response_timeout_seconds * 1000)
  }

  /**
   * If one session is lost, the slot is: its sibling closes too, so that a bound slot works in both directions. The loss is reported when both are
   * closed: carriers that count sessions would refuse a new one beside the old.
   */
  #noteClosed(closed: Session<C>, reason: CloseReason): void {
    if (!this.#sessions.includes(closed)) return
    this.#sessions = this.#sessions.filter((session) => session !== closed)
    this.#loss ??= {
      reason,
      detail: [reason, closed.closeDetail, this.#hintAt(closed)].filter((word) => word !== '').join(': '),
      bindStatus: closed.bindStatus,
      wasBound: this.#hasBound,
      // A carrier that takes every bind and ends it at once must not be dialled four times a second.
      wasSteady: this.#hasBound && nowMs() - this.boundAt.getTime() >= steadyMs,
    }
    // A closing slot drains already.
    if (!this.isClosing) for (const session of this.#sessions) this.#endSibling(session, reason)
    const loss = this.#loss
    if (this.#sessions.length > 0 || loss === null) return
    this.#loss = null
    this.#options.onLost(this, loss)
  }

  /** Passwords are sent uncut, since many carriers take long ones; a refused one may have been cut where it was created. */
  #hintAt({ bindStatus }: Session<C>): string {
    if (this.#isForgotten) return 'the carrier reports that the session is not bound'
    const { length } = this.#options.password
    return bindStatus === ESME.RINVPASWD && length > passwordMax
      ? `the password has ${length} characters, and SMPP 3.4 allows ${passwordMax}`
      : ''
  }

  /** Ends the remaining session after its answers, or their outcome would be unknown without need. */
  #endSibling(session: Session<C>, reason: CloseReason): void {
    if (session.inFlight + session.unanswered === 0)
      return session.destroy('destroyed', 'the other session of the link ended')
    const responseMs = this.#options.settings.response_timeout_seconds * 1000
    void session.unbind(reason === 'peer_unbound' ? responseMs : Math.min(responseMs, drainMsMax))
  }
}
