/** One slot of a link: a session in both directions, or one for each. Its owner says when it dials. */
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
import type { SmppSettings } from './settings.ts'

/** Why a slot is not bound any more, or was not. */
export interface SlotLoss {
  reason: CloseReason
  detail: string
  bindStatus: number
  wasBound: boolean
  /** It was bound so long that the trouble before it is over. */
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
  /** There is room, or will be none any more. */
  onRoom: () => void
  onFault: (kind: string) => void
  trace: ((direction: 'in' | 'out', bytes: Buffer) => void) | undefined
}

// SMPP 3.4 §5.2.2, without the NUL.
const passwordMax = 8
// A session that lived so long was a good one: the back-off begins again.
const steadyMs = 10_000
// How long the other session of a slot may take for what it has under way, where the first did not end in peace: who is cut off waits
// for a new dial.
const drainMsMax = 5_000
// So many submits in a row that are refused as if we were not bound: the first of them comes again, so that one message is enough.
const forgottenAfter = 2

export class Slot<C> {
  /** Counted from 1, over all processes. */
  readonly number: number
  /** Since when it is bound. */
  boundAt: Date = new Date(0)
  /** For the back-off. */
  losses: Losses = noLosses()
  /** When it may be dialled again, in monotonic milliseconds. */
  retryAt = 0
  isClosing = false
  readonly #options: SlotOptions<C>
  #sessions: Session<C>[] = []
  /** Since it was dialled last. */
  #hasBound = false
  /** How many submits in a row were refused as if we were not bound. */
  #notBound = 0
  #isForgotten = false
  /** What ended the first session, until the other has ended. */
  #loss: SlotLoss | null = null

  constructor(number: number, options: SlotOptions<C>) {
    this.number = number
    this.#options = options
  }

  get state(): 'down' | 'binding' | 'bound' {
    if (this.#sessions.length === 0) return 'down'
    return this.#sessions.every((session) => session.state === 'bound') ? 'bound' : 'binding'
  }

  /** Whether a session is on its way to be bound; one that drains is not. */
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

  /** Unix milliseconds of the last answered heartbeat; 0 before the first. */
  get lastEnquireAnsweredAtMs(): number {
    return this.#sessions.reduce((last, session) => Math.max(last, session.lastEnquireAnsweredAtMs), 0)
  }

  /** @throws where there is nothing to dial with, such as a certificate of the authority that is none. */
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

  /** Forgets what was dialled. */
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
      // A PDU that never gets whole is as dead as two heartbeats that are not answered.
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
        // No room comes any more: what waits for it may go elsewhere, while what is written waits for its answers.
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
   * A carrier that was restarted behind what keeps connections open does not know our bind, and would refuse every submit for ever: then it is
   * bound again. One that takes others says something of that submit alone. Others may be under way, and answered.
   */
  #noteStatus(session: Session<C>, status: number): void {
    this.#notBound = status === ESME.RINVBNDSTS ? this.#notBound + 1 : 0
    if (this.#notBound < forgottenAfter || session.state !== 'bound') return
    this.#isForgotten = true
    void session.unbind(this.#options.settings.response_timeout_seconds * 1000)
  }

  /**
   * One session lost is the slot lost: its sibling goes too, so that both directions are known to work when the slot says bound. It is
   * lost when both are: carriers that count sessions would refuse a new one beside the old.
   */
  #noteClosed(closed: Session<C>, reason: CloseReason): void {
    if (!this.#sessions.includes(closed)) return
    this.#sessions = this.#sessions.filter((session) => session !== closed)
    this.#loss ??= {
      reason,
      detail: [reason, closed.closeDetail, this.#hintAt(closed)].filter((word) => word !== '').join(': '),
      bindStatus: closed.bindStatus,
      wasBound: this.#hasBound,
      // Who takes every bind and ends it at once is not to be dialled four times a second.
      wasSteady: this.#hasBound && nowMs() - this.boundAt.getTime() >= steadyMs,
    }
    // One that is being closed drains already.
    if (!this.isClosing) for (const session of this.#sessions) this.#endSibling(session, reason)
    const loss = this.#loss
    if (this.#sessions.length > 0 || loss === null) return
    this.#loss = null
    this.#options.onLost(this, loss)
  }

  /** A password is sent as it is, for many carriers take long ones; one that is refused may have been cut where it was made. */
  #hintAt({ bindStatus }: Session<C>): string {
    if (this.#isForgotten) return 'the carrier reports that the session is not bound'
    const { length } = this.#options.password
    return bindStatus === ESME.RINVPASWD && length > passwordMax
      ? `the password has ${length} characters, and SMPP 3.4 allows ${passwordMax}`
      : ''
  }

  /** Ends the session that is left; what it has under way is answered first, or its outcome would be unknown for no reason. */
  #endSibling(session: Session<C>, reason: CloseReason): void {
    if (session.inFlight + session.unanswered === 0)
      return session.destroy('destroyed', 'the other session of the link ended')
    const responseMs = this.#options.settings.response_timeout_seconds * 1000
    void session.unbind(reason === 'peer_unbound' ? responseMs : Math.min(responseMs, drainMsMax))
  }
}
