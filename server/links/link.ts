/**
 * A link over SMPP: the slots of it that this process holds, each a session kept bound, with one line and one pace over them.
 *
 *   down ─▶ binding ─▶ bound ⇄ throttled          any ─▶ down (back-off, then binding again)          disabled: closed for good
 *
 * Messages wait here only as long as the pace asks, with their intents committed; what is not written when the last session ends goes
 * back to the queue. The parts of a message go on one session, in order.
 */
import {
  PduError,
  responseIdKey,
  statusOfResponse,
  type MessageRequest,
  type Outcome,
  type Respond,
  type ResponsePdu,
} from '@heliogram/smpp'
import { dateOf, now } from '../ground/db/clock.ts'
import type { Answer } from '../ledger/answer.ts'
import type { Handover } from '../message/handover.ts'
import type { MessageType } from '../message/message.ts'
import type { Reason } from '../message/taxonomy.ts'
import { answerOf, decideMove, endSegment, readOutcome, refusalOf, type SegmentEnd, type Try } from './attempt.ts'
import type { CarrierLink, CarrierLinkOptions, Lease, LinkState, DeliverySession } from './carrier-link.ts'
import { composeSubmits, type Submit } from './compose.ts'
import { Line, type Waiting } from './line.ts'
import { recount } from './recount.ts'
import type { SmppSettings } from './carrier-settings.ts'
import { SlotSet } from './slot-set.ts'
import type { Slot, SlotLoss } from './slot.ts'

export interface LinkOptions extends CarrierLinkOptions<Link> {
  /** The link under which the carrier's ids are known: its first. Receipts of one login come on the sessions of any of its links. */
  receiptsId: string
  settings: SmppSettings
  password: string
  /** deliver_sm or data_sm of the carrier, with its session. */
  onDeliver: (link: Link, pdu: MessageRequest, respond: Respond, session: DeliverySession) => void
  trace?: (link: Link, direction: 'in' | 'out', bytes: Buffer) => void
}

interface Message extends Waiting {
  readonly attempt: Try
  readonly submits: readonly Submit[]
}

interface Part {
  readonly attempt: Try
  readonly submit: Submit
  readonly writtenAt: number
}

// A pace of one segment a year would overflow a timer, which then fires at once.
const pumpWaitMsMax = 60_000
// How often a process without a fresh lease checks for one.
const leaseWaitMs = 100

export class Link implements CarrierLink {
  readonly id: string
  readonly receiptsId: string
  readonly carrierId: string
  readonly settings: SmppSettings
  readonly #options: LinkOptions
  readonly #line: Line<Message>
  readonly #slots: SlotSet<Part>
  /** Partly written messages, by the slot that must carry the rest. */
  readonly #begun = new Map<Slot<Part>, Message[]>()
  #untilMs = 0
  #isClosed = false
  #isStamping = false
  #timer: NodeJS.Timeout | null = null
  #pumpAt = 0
  lastError: string | null = null
  lastErrorAt: Date | null = null
  submitted = 0

  constructor(options: LinkOptions) {
    this.id = options.id
    this.receiptsId = options.receiptsId
    this.carrierId = options.carrierId
    this.settings = options.settings
    this.#options = options
    this.#line = new Line(options.pace)
    this.#slots = this.#makeSlots()
  }

  get state(): LinkState {
    if (this.#isClosed) return 'disabled'
    const { state } = this.#slots
    return state === 'bound' && this.#options.pace.isSlowed(performance.now()) ? 'throttled' : state
  }

  get sessions(): number {
    return this.#slots.sessions
  }

  get windowMax(): number {
    return this.settings.window * this.#slots.size
  }

  get inFlight(): number {
    return this.#slots.inFlight
  }

  get pace(): number {
    return this.#options.pace.rate(performance.now())
  }

  get lastEnquireAt(): Date | null {
    return this.#slots.lastEnquireAt
  }

  room(type: MessageType): number {
    const now = performance.now()
    return this.#mayWrite(now) ? this.#line.room(type, this.#slots.room, now) : 0
  }

  reserve(segments: number, type: MessageType): boolean {
    const now = performance.now()
    return this.#mayWrite(now) && this.#line.reserve(segments, type, this.#slots.room, now)
  }

  release(segments: number): void {
    this.#line.release(segments)
  }

  submit(handover: Handover): void {
    const { segments, submits, pending } = composeSubmits(handover, this.settings)
    if (segments !== handover.segments || pending === 0)
      return recount(handover, segments, this.#options.nodeId, this.receiptsId).forEach(this.#options.onAnswer)
    const attempt: Try = { handover, intentAt: now(), open: submits.length, ends: [] }
    this.#line.add({ type: handover.type, limits: this.#options.limits.of(handover), left: pending, attempt, submits })
    this.#pump()
  }

  renew({ slots, untilMs }: Lease): void {
    this.#untilMs = untilMs
    this.#slots.hold(slots)
    this.#leave()
  }

  async drop(slot: number, drainMs: number): Promise<void> {
    const closed = this.#slots.drop(slot, drainMs)
    this.#leave()
    await closed
  }

  async close(drainMs: number): Promise<void> {
    this.#isClosed = true
    if (this.#timer) clearTimeout(this.#timer)
    this.#release()
    await this.#slots.close(drainMs)
  }

  /** A process that was frozen wakes without a lease. */
  #mayWrite(now: number): boolean {
    return now < this.#untilMs && !this.#isClosed && this.#options.mayWrite()
  }

  #pump(): void {
    if (this.#line.length === 0) return
    if (this.#isClosed || !this.#slots.hasSession) return this.#release()
    let now = performance.now()
    if (!this.#mayWrite(now)) return this.#pumpIn(leaseWaitMs)
    for (const [slot, messages] of this.#begun) if (!this.#goOn(slot, messages, now)) return
    while (this.#line.pace.isDue(now)) {
      const slot = this.#slots.freest()
      // An opening window calls back.
      if (!slot) return
      const message = this.#line.next(now)
      if (!message) break
      this.#write(slot, message, now)
      if (message.left > 0) {
        const messages = this.#begun.get(slot) ?? []
        this.#begun.set(slot, messages)
        messages.push(message)
        if (!this.#goOn(slot, messages, now)) return
      }
      now = performance.now()
    }
    this.#pumpIn(this.#line.wait(now))
  }

  /** Writes the rest of messages that have begun on a slot. False: the pace allows nothing more, and calls back. */
  #goOn(slot: Slot<Part>, messages: Message[], now: number): boolean {
    for (let i = 0; i < messages.length;) {
      const message = messages[i]
      if (!message || slot.room === 0) break
      while (message.left > 0 && slot.room > 0 && this.#line.isDue(message, now)) this.#write(slot, message, now)
      if (message.left === 0) messages.splice(i, 1)
      else if (slot.room > 0) {
        this.#pumpIn(this.#line.waitFor(message, now))
        // Messages may overtake one that waits for its own limit, but not the pace.
        if (!this.#line.pace.isDue(now)) return false
        i++
      }
    }
    if (messages.length === 0) this.#begun.delete(slot)
    return true
  }

  /** Writes the next segment of a message. One that cannot be written as a PDU is refused as by the carrier. */
  #write(slot: Slot<Part>, message: Message, now: number): void {
    const { attempt, submits } = message
    const submit = submits.at(-message.left) ?? submits[0]
    if (!submit) throw new Error('a message has no segment left')
    const part: Part = { attempt, submit, writtenAt: now }
    this.#line.wrote(message, now, submit.segments)
    this.submitted += submit.segments
    try {
      if (!slot.transmitter?.submit(submit.fields, part)) this.#end(part, { state: 'released' })
    } catch (error) {
      if (!(error instanceof PduError)) throw error
      this.#end(part, refusalOf(error.status, this.#reasonOf(error.status)))
    }
    // A session flushes all of a turn at its end, before this.
    if (this.#isStamping) return
    this.#isStamping = true
    setImmediate(() => {
      this.#isStamping = false
      this.#line.written(performance.now())
    })
  }

  /** Pumps again after a while, or earlier if already scheduled. */
  #pumpIn(ms: number): void {
    if (ms === Infinity) return
    ms = Math.min(ms, pumpWaitMsMax)
    const at = performance.now() + ms
    if (this.#timer && this.#pumpAt <= at) return
    if (this.#timer) clearTimeout(this.#timer)
    this.#pumpAt = at
    this.#timer = setTimeout(() => {
      this.#timer = null
      this.#pump()
      this.#options.onRoom()
    }, Math.ceil(ms))
  }

  /** Releases messages that would wait in vain: for a released slot that has their beginning, or for a pace that is now all other processes'. */
  #leave(): void {
    this.#release((message, slot) => slot?.isClosing === true || this.#line.isPartless(message))
    this.#pump()
  }

  /**
   * Releases waiting messages, or those that meet a condition, which gets the slot of a message that has begun: it returns with its open segments.
   */
  #release(isOut: (message: Message, slot: Slot<Part> | null) => boolean = () => true): void {
    for (const message of this.#line.drain((one) => isOut(one, null))) this.#giveBack(message, message.submits)
    for (const [slot, messages] of this.#begun) {
      for (const message of messages)
        if (isOut(message, slot)) this.#giveBack(message, message.submits.slice(message.submits.length - message.left))
      const rest = messages.filter(({ left }) => left > 0)
      if (rest.length > 0) this.#begun.set(slot, rest)
      else this.#begun.delete(slot)
    }
  }

  #giveBack(message: Message, submits: readonly Submit[]): void {
    this.#line.forget(message)
    for (const submit of submits) this.#end({ attempt: message.attempt, submit, writtenAt: 0 }, { state: 'released' })
  }

  #end(part: Part, end: SegmentEnd, messageId = ''): void {
    const move = endSegment(part.attempt, end)
    this.#options.onEnd?.(part.attempt.handover.theirNumber, end, performance.now() - part.writtenAt)
    const isThrottled = end.state === 'refused' && end.reason.handling === 'throttling'
    if (isThrottled && this.#options.pace.slowDown(performance.now()))
      this.#options.onState(this, this.state, 'the carrier throttles', true)
    this.#answer(part, end, messageId, move)
  }

  #answer(part: Part, end: SegmentEnd, messageId: string, move: Answer['move'], isLate = false): void {
    const { submit, writtenAt } = part
    const { nodeId, onAnswer } = this.#options
    // Receipts' ids are trimmed as well: some carriers pad theirs with blanks.
    const id = messageId.trim()
    const carrierId = end.state === 'accepted' && id !== '' ? responseIdKey(id, this.settings.message_id_form) : null
    const rawId = carrierId === null || id === carrierId ? null : id
    const place = { nodeId, linkId: this.receiptsId, segment: submit.segment, isLate }
    const { handover, intentAt } = part.attempt
    const tried = { handover, intentAt: writtenAt === 0 ? intentAt : dateOf(writtenAt) }
    const answer = answerOf(tried, place, end, carrierId, move, rawId)
    if (submit.segments === 1) return onAnswer(answer)
    // A message in one message_payload is one submit for all its segments, and one receipt.
    for (let other = 2; other <= handover.segments; other++)
      onAnswer({ ...answer, segments: 1, segment: other, carrierMessageId: null, rawMessageId: null, move: null })
    onAnswer({ ...answer, segments: 1 })
  }

  #makeSlots(): SlotSet<Part> {
    const { settings, password, trace, onDeliver, onRoom, onState } = this.#options
    return new SlotSet<Part>({
      settings,
      password,
      onDial: () => {
        if (!this.#slots.hasSession) onState(this, 'binding', `${settings.host}:${settings.port}`)
      },
      onBound: (slot) => {
        onState(this, this.state, slot.number > 1 ? `session ${slot.number}` : '')
        this.#pump()
        onRoom()
      },
      onLost: (slot, loss, waitMs) => this.#onLost(slot, loss, waitMs),
      onOutcome: (part, outcome) => this.#onOutcome(part, outcome),
      onLateResponse: (part, response) => this.#onLate(part, response),
      onRequest: (session, pdu, respond) => onDeliver(this, pdu, respond, session),
      onRoom: () => {
        this.#pump()
        onRoom()
      },
      onFault: (kind) => this.#noteError(kind),
      trace: trace && ((direction, bytes) => trace(this, direction, bytes)),
    })
  }

  readonly #reasonOf = (status: number): Reason => this.#options.reasons.ofStatus(this.id, status)

  #onOutcome(part: Part, outcome: Outcome): void {
    this.#end(part, readOutcome(outcome, this.#reasonOf), outcome.kind === 'response' ? outcome.messageId : '')
  }

  /** An answer after its timeout: the ledger has the try as unknown, and now gets the outcome. */
  #onLate(part: Part, response: ResponsePdu): void {
    const { handover } = part.attempt
    const status = statusOfResponse(response)
    const end: SegmentEnd = status === 0 ? { state: 'accepted', status } : refusalOf(status, this.#reasonOf(status))
    // A temporary refusal would requeue the message, which is no longer expected.
    if (end.state === 'refused' && end.reason.handling !== 'permanent') return
    const messageId = 'message_id' in response ? (response.message_id ?? '') : ''
    this.#answer(part, end, messageId, handover.segments === 1 ? decideMove({ handover, ends: [end] }) : null, true)
  }

  #onLost(slot: Slot<Part>, { detail }: SlotLoss, waitMs: number): void {
    this.#noteError(detail)
    const isWhole = !this.#slots.hasSession
    this.#release((_message, one) => isWhole || one === slot)
    const what = isWhole ? detail : `session ${slot.number}: ${detail}`
    this.#options.onState(this, this.state, `${what}; again in ${(waitMs / 1000).toFixed(1)} s`, true)
  }

  #noteError(error: string): void {
    this.lastError = error
    this.lastErrorAt = now()
  }
}
