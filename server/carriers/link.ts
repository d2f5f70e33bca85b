/**
 * A link: a carrier's session kept bound, its pace and its window.
 *
 *   down ─▶ binding ─▶ bound ⇄ throttled          any ─▶ down (back-off, then binding again)          disabled: closed for good
 *
 * Messages wait here only as long as the pace asks, with their intents committed; what is not written when the session ends goes back
 * to the queue.
 */
import {
  classifyStatus,
  connectSession,
  ESME,
  PduError,
  responseIdKey,
  type BindMode,
  type CloseReason,
  type MessageRequest,
  type Outcome,
  type Respond,
  type ResponsePdu,
  type Session,
} from '@heliogram/smpp'
import type { Answer } from '../messages/answer.ts'
import type { Handover } from '../messages/handover.ts'
import { decideMove, readOutcome, type SegmentEnd, type Try } from './attempt.ts'
import { backOffMs } from './backoff.ts'
import { composeSubmits, type Submit } from './compose.ts'
import { Pace } from './pace.ts'
import type { SmppSettings } from './settings.ts'

export type LinkState = 'down' | 'binding' | 'bound' | 'throttled' | 'disabled'

/** What a link is made of. */
export interface LinkOptions {
  id: string
  carrierId: string
  settings: SmppSettings
  password: string
  /** Segments a second. */
  pace: number
  nodeId: string
  /** Whether this node may write what it committed before (see Node.isFresh). */
  mayWrite: () => boolean
  onAnswer: (answer: Answer) => void
  /** deliver_sm or data_sm of the carrier; `boundAt` is the time of the session it came on. */
  onDeliver: (link: Link, pdu: MessageRequest, respond: Respond, boundAt: Date) => void
  onRoom: () => void
  onState: (link: Link, state: LinkState, detail: string) => void
  trace?: (link: Link, direction: 'in' | 'out', bytes: Buffer) => void
}

/** One segment on its way. */
interface Part extends Submit {
  readonly attempt: Try
}

// What may wait here for the pace, in milliseconds of it: enough to bridge a claim, little enough to be few when a session ends.
const aheadMs = 250
// A session that lived so long was a good one: the back-off begins anew.
const steadyMs = 10_000

export class Link {
  readonly id: string
  readonly carrierId: string
  readonly settings: SmppSettings
  readonly #options: LinkOptions
  readonly #pace: Pace
  #sessions: Session<Part>[] = []
  #boundAt = new Date(0)
  /** Since it was dialled last. */
  #hasBound = false
  #waiting: Part[] = []
  #reserved = 0
  #failures = 0
  #isClosed = false
  #timer: NodeJS.Timeout | null = null
  #redial: NodeJS.Timeout | null = null
  lastError: string | null = null
  lastErrorAt: Date | null = null
  /** Segments written since the start; the owner makes a rate of it. */
  submitted = 0

  constructor(options: LinkOptions) {
    this.id = options.id
    this.carrierId = options.carrierId
    this.settings = options.settings
    this.#options = options
    this.#pace = new Pace(options.pace)
  }

  start(): void {
    this.#dial()
  }

  get state(): LinkState {
    if (this.#isClosed) return 'disabled'
    if (!this.#transmitter) return this.#sessions.length > 0 ? 'binding' : 'down'
    return this.#pace.isSlowed(performance.now()) ? 'throttled' : 'bound'
  }

  get sessions(): number {
    return this.#sessions.filter((session) => session.state === 'bound').length
  }

  get inFlight(): number {
    return this.#transmitter?.inFlight ?? 0
  }

  /** Segments a second that the link sends now. */
  get pace(): number {
    return this.#pace.rate(performance.now())
  }

  get lastEnquireAt(): Date | null {
    const at = Math.max(0, ...this.#sessions.map((session) => session.lastEnquireAnsweredAtMs))
    return at > 0 ? new Date(at) : null
  }

  /** Segments that the link would take now. */
  get room(): number {
    const session = this.#transmitter
    if (!session || !this.#options.mayWrite()) return 0
    const ahead = Math.max(1, Math.ceil((this.pace * aheadMs) / 1000))
    return Math.min(session.room, ahead) - this.#waiting.length - this.#reserved
  }

  /** Keeps room for a message; false where there is none. A message longer than the whole room goes when the link is idle. */
  reserve(segments: number): boolean {
    if (this.room < segments && !(this.room > 0 && this.#waiting.length + this.#reserved === 0)) return false
    this.#reserved += segments
    return true
  }

  /** Gives back what was reserved; on this link, or on the one before its settings changed. */
  release(segments: number): void {
    this.#reserved = Math.max(0, this.#reserved - segments)
  }

  /** Submits a message whose intents are committed; every segment ends with exactly one answer. */
  submit(handover: Handover): void {
    const attempt: Try = { handover, intentAt: new Date(), open: 0, ends: [] }
    const parts = composeSubmits(handover, this.settings).map((submit): Part => ({ attempt, ...submit }))
    attempt.open = parts.length
    this.#waiting.push(...parts)
    this.#pump()
  }

  /** Drains the window, unbinds and stays closed. What was not written goes back to the queue. */
  async close(drainMs: number): Promise<void> {
    this.#isClosed = true
    if (this.#redial) clearTimeout(this.#redial)
    this.#releaseWaiting()
    await Promise.all(this.#sessions.map((session) => session.unbind(drainMs)))
    if (this.#timer) clearTimeout(this.#timer)
  }

  /** The session that submits; none until every session is bound, so that receipts can come. */
  get #transmitter(): Session<Part> | undefined {
    if (this.#sessions.some((session) => session.state !== 'bound')) return undefined
    return this.#sessions.find((session) => session.mode !== 'receiver')
  }

  /** Writes what window and pace allow, and comes back when they allow more. */
  #pump(): void {
    const session = this.#transmitter
    if (!session || !this.#options.mayWrite()) {
      if (!session) this.#releaseWaiting()
      else this.#pumpIn(100)
      return
    }
    let written = 0
    for (const part of this.#waiting) {
      if (session.room === 0) break
      const now = performance.now()
      if (!this.#pace.take(now)) {
        this.#pumpIn(this.#pace.wait(now))
        break
      }
      written++
      this.#write(session, part)
    }
    if (written > 0) {
      this.submitted += written
      this.#waiting.splice(0, written)
    }
  }

  /** What cannot be written as a PDU at all is refused like the carrier would refuse it. */
  #write(session: Session<Part>, part: Part): void {
    try {
      if (!session.submit(part.fields, part)) this.#end(part, { state: 'released' })
    } catch (error) {
      if (!(error instanceof PduError)) throw error
      this.#end(part, { state: 'refused', status: error.status })
    }
  }

  #pumpIn(ms: number): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = null
      this.#pump()
      this.#options.onRoom()
    }, Math.ceil(ms))
  }

  #releaseWaiting(): void {
    for (const part of this.#waiting.splice(0)) this.#end(part, { state: 'released' })
  }

  #end(part: Part, end: SegmentEnd, messageId = ''): void {
    const { attempt } = part
    attempt.ends.push(end)
    attempt.open--
    if (end.state === 'refused' && (end.status === ESME.RTHROTTLED || end.status === ESME.RMSGQFUL)) {
      this.#pace.slowDown(performance.now())
      this.#options.onState(this, this.state, 'the carrier throttles')
    }
    this.#answer(part, end, messageId, attempt.open === 0 ? decideMove(attempt) : null)
  }

  #answer({ attempt, segment, fields }: Part, end: SegmentEnd, messageId: string, move: Answer['move']): void {
    const { handover } = attempt
    // A message in one message_payload is one submit for all its segments, and one receipt.
    const isWhole = fields.tlvs?.message_payload !== undefined
    const answer: Answer = {
      nodeId: this.#options.nodeId,
      accountId: handover.accountId,
      messageId: handover.id,
      segment,
      segments: isWhole ? 1 : handover.segments,
      try: handover.try,
      linkId: this.id,
      state: end.state,
      carrierMessageId:
        end.state === 'accepted' && messageId !== '' ? responseIdKey(messageId, this.settings.message_id_form) : null,
      commandStatus: 'status' in end ? end.status : null,
      intentAt: attempt.intentAt,
      move,
    }
    if (isWhole)
      for (let other = 2; other <= handover.segments; other++)
        this.#options.onAnswer({ ...answer, segment: other, carrierMessageId: null, move: null })
    this.#options.onAnswer(answer)
  }

  #dial(): void {
    const { settings } = this
    const modes: BindMode[] = settings.bind === 'transceiver' ? ['transceiver'] : ['transmitter', 'receiver']
    this.#hasBound = false
    this.#sessions = modes.map((mode) => this.#connect(mode))
    this.#options.onState(this, 'binding', `${settings.host}:${settings.port}`)
  }

  #connect(mode: BindMode): Session<Part> {
    const { settings } = this
    const { trace } = this.#options
    return connectSession<Part>({
      host: settings.host,
      port: settings.port,
      ...(settings.tls && { tls: settings.tls_ca ? { ca: settings.tls_ca } : {} }),
      bind: {
        mode,
        system_id: settings.system_id,
        password: this.#options.password,
        system_type: settings.system_type,
      },
      windowMax: settings.window,
      responseTimeoutMs: settings.response_timeout_seconds * 1000,
      enquireLinkMs: settings.enquire_link_seconds * 1000,
      onOutcome: (_session, part, outcome) => this.#onOutcome(part, outcome),
      onLateResponse: (_session, part, response) => this.#onLate(part, response),
      onRequest: (_session, pdu, respond) => this.#options.onDeliver(this, pdu, respond, this.#boundAt),
      onRoom: () => {
        this.#pump()
        this.#options.onRoom()
      },
      onState: (session, state, reason) => {
        if (state === 'bound') this.#onBound()
        if (state === 'closed') this.#onClosed(session, reason ?? 'destroyed')
      },
      onFault: (_session, fault) => this.#noteError(fault.kind),
      ...(trace && {
        trace: (_session: Session<Part>, direction: 'in' | 'out', bytes: Buffer) => trace(this, direction, bytes),
      }),
    })
  }

  #onOutcome(part: Part, outcome: Outcome): void {
    this.#end(part, readOutcome(outcome), outcome.kind === 'response' ? outcome.messageId : '')
  }

  /** An answer after its timeout: the ledger has the try as unknown, and learns now what became of it. */
  #onLate(part: Part, response: ResponsePdu): void {
    const { handover } = part.attempt
    const status = response.command_status
    const isAccepted = status === ESME.ROK
    // A passing refusal would bring the message back; nobody expects it any more.
    if (!isAccepted && classifyStatus(status) !== 'permanent') return
    const end: SegmentEnd = { state: isAccepted ? 'accepted' : 'refused', status }
    const messageId = 'message_id' in response ? (response.message_id ?? '') : ''
    const move = handover.segments === 1 ? decideMove({ handover, ends: [end] }) : null
    this.#answer(part, end, messageId, move)
  }

  #onBound(): void {
    if (this.#sessions.some((session) => session.state !== 'bound')) return
    this.#boundAt = new Date()
    this.#hasBound = true
    this.#options.onState(this, this.state, '')
    this.#pump()
    this.#options.onRoom()
  }

  /** One session lost is the link lost: its sibling goes too, so that both directions are known to work when the link says bound. */
  #onClosed(closed: Session<Part>, reason: CloseReason): void {
    if (!this.#sessions.includes(closed)) return
    const others = this.#sessions.filter((session) => session !== closed)
    const wasBound = this.#hasBound
    // Who takes every bind and ends it at once is not to be dialled four times a second.
    if (wasBound && Date.now() - this.#boundAt.getTime() >= steadyMs) this.#failures = 0
    this.#sessions = []
    for (const session of others) session.destroy('destroyed', 'the other session of the link ended')
    this.#releaseWaiting()
    if (this.#isClosed) return
    this.#noteError(closed.closeDetail ? `${reason}: ${closed.closeDetail}` : reason)
    const waitMs = backOffMs(this.#failures++, reason, closed.bindStatus, wasBound)
    this.#options.onState(this, 'down', `${this.lastError ?? reason}; again in ${(waitMs / 1000).toFixed(1)} s`)
    this.#redial = setTimeout(() => {
      this.#redial = null
      this.#dial()
    }, waitMs)
  }

  #noteError(error: string): void {
    this.lastError = error
    this.lastErrorAt = new Date()
  }
}
