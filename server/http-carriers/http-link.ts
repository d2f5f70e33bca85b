/**
 * The link of an HTTP carrier: no session, but the line, pace, window and outcomes of any link. A message is one request, however many segments.
 *
 *   down ─▶ binding (one request as a trial) ─▶ bound ⇄ throttled        any ─▶ down after a fault (back-off, then a trial)
 *
 * A fault is one that the next message would meet too: no connection, wrong credentials, three requests in a row without an answer.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { ESME } from '@heliogram/smpp'
import { dateOf, now } from '../ground/db/clock.ts'
import type { Handover } from '../message/handover.ts'
import type { MessageType } from '../message/message.ts'
import type { Reason } from '../message/taxonomy.ts'
import { answerOf, endSegment, type SegmentEnd, type Try } from '../links/attempt.ts'
import { backOffMs } from '../links/backoff.ts'
import type { CarrierLink, CarrierLinkOptions, Lease, LinkState } from '../links/carrier-link.ts'
import { Line, type Waiting } from '../links/line.ts'
import { writeRecipient } from '../links/number-form.ts'
import type { HttpSettings } from '../links/carrier-settings.ts'
import type { OutMessage, Secrets } from './adapter.ts'
import { Exchanger } from './exchange.ts'
import { idMax } from './inbound.ts'
import { writeReference } from './reference.ts'
import { endOf, sendMessage, type SendOutcome } from './send.ts'

export interface HttpLinkOptions extends CarrierLinkOptions<HttpLink> {
  settings: HttpSettings
  secrets: Secrets
  /** The address for receipts (`inboundUrl`). */
  receiptUrl: string
  /** The operator's reason for a code; null or absent: the adapter's table decides. */
  reasonOf?: (code: string) => Reason | null
}

/** A message that is queued here or in flight. */
interface Send extends Waiting {
  readonly attempt: Try
  writtenAt?: number
}

// Three requests in a row without an answer are no coincidence; each leaves a message with an unknown outcome.
const unansweredMax = 3
const idleMs = 100

export class HttpLink implements CarrierLink {
  readonly id: string
  readonly carrierId: string
  readonly #options: HttpLinkOptions
  readonly #exchanger: Exchanger
  readonly #line: Line<Send>
  readonly #running = new Set<Promise<void>>()
  #lease: Lease = { slots: [], untilMs: 0 }
  #faults = 0
  #unanswered = 0
  #downUntil = 0
  #isTrial = false
  #isClosed = false
  #timer: NodeJS.Timeout | null = null
  #recovery: NodeJS.Timeout | null = null
  lastError: string | null = null
  lastErrorAt: Date | null = null
  submitted = 0
  readonly lastEnquireAt = null

  constructor(options: HttpLinkOptions) {
    this.id = options.id
    this.carrierId = options.carrierId
    this.#options = options
    this.#line = new Line(options.pace)
    const { window, response_timeout_seconds: seconds } = options.settings
    this.#exchanger = new Exchanger({ timeoutMs: seconds * 1000, connectionsMax: window })
  }

  get state(): LinkState {
    if (this.#isClosed) return 'disabled'
    const now = performance.now()
    if (this.#lease.slots.length === 0 || now < this.#downUntil) return 'down'
    if (this.#isTrial) return 'binding'
    return this.#line.pace.isSlowed(now) ? 'throttled' : 'bound'
  }

  get sessions(): number {
    return ['bound', 'throttled'].includes(this.state) ? 1 : 0
  }

  get windowMax(): number {
    return this.#options.settings.window
  }

  get inFlight(): number {
    return this.#running.size
  }

  get pace(): number {
    return this.#line.pace.rate(performance.now())
  }

  room(type: MessageType): number {
    return this.#mayWrite() ? this.#line.room(type, this.#window, performance.now()) : 0
  }

  reserve(segments: number, type: MessageType): boolean {
    return this.#mayWrite() && this.#line.reserve(segments, type, this.#window, performance.now())
  }

  release(segments: number): void {
    this.#line.release(segments)
  }

  submit(handover: Handover): void {
    const { segments, pending, type } = handover
    const attempt: Try = { handover, intentAt: now(), open: pending?.length ?? segments, ends: [] }
    const send: Send = { attempt, type, limits: this.#options.limits.of(handover), left: segments }
    if (pending !== null && pending.length < segments) {
      // Another carrier has the other segments; this one takes whole messages only.
      const reason: Reason = { code: 'no_route_available', handling: 'permanent' }
      const raw = 'the carrier takes whole messages only'
      this.#end(send, { state: 'refused', status: null, raw, reason, retryAfterMs: null })
      return
    }
    this.#line.add(send)
    this.#pump()
  }

  renew(lease: Lease): void {
    const wasUp = this.#lease.slots.length > 0
    this.#lease = lease
    if (lease.slots.length === 0) return this.#releaseWaiting()
    if (!wasUp) this.#options.onState(this, this.state, '')
    this.#releaseWaiting((send) => this.#line.isPartless(send))
    this.#pump()
    this.#options.onRoom()
  }

  async drop(slot: number, drainMs: number): Promise<void> {
    const slots = this.#lease.slots.filter((one) => one !== slot)
    this.#lease = { ...this.#lease, slots }
    if (slots.length > 0) return
    this.#releaseWaiting()
    await this.#drain(drainMs)
    this.#options.onState(this, this.state, 'the session was given up')
  }

  async close(drainMs: number): Promise<void> {
    this.#isClosed = true
    if (this.#recovery) clearTimeout(this.#recovery)
    this.#releaseWaiting()
    await this.#drain(drainMs)
    if (this.#timer) clearTimeout(this.#timer)
    await this.#exchanger.close()
  }

  /** Free requests; after a fault, one trial at a time. */
  get #window(): number {
    return (this.#isTrial ? 1 : this.#options.settings.window) - this.#running.size
  }

  #isUp(now: number): boolean {
    return !this.#isClosed && this.#lease.slots.length > 0 && now >= this.#downUntil
  }

  #mayWrite(): boolean {
    const now = performance.now()
    return this.#isUp(now) && now < this.#lease.untilMs && this.#options.mayWrite()
  }

  /** Starts requests as window and pace allow, and schedules the next run. */
  #pump(): void {
    while (this.#line.length > 0) {
      const now = performance.now()
      if (!this.#isUp(now)) return this.#releaseWaiting()
      if (!this.#mayWrite()) return this.#pumpIn(idleMs)
      if (this.#window <= 0) return
      const send = this.#line.pace.isDue(now) ? this.#line.next(now) : null
      if (!send) return this.#pumpIn(this.#line.wait(now))
      this.submitted += send.left
      this.#line.wrote(send, now, send.left)
      send.writtenAt = now
      const running: Promise<void> = this.#send(send).finally(() => {
        this.#running.delete(running)
        this.#pump()
        this.#options.onRoom()
      })
      this.#running.add(running)
    }
  }

  #pumpIn(ms: number): void {
    // A pace without a share for this process gets one with the next lease.
    this.#timer ??= setTimeout(
      () => {
        this.#timer = null
        this.#pump()
        this.#options.onRoom()
      },
      Math.min(1000, Math.ceil(ms)),
    )
  }

  async #send(send: Send): Promise<void> {
    const { settings, secrets, receiptUrl, reasonOf } = this.#options
    const { handover } = send.attempt
    const reference = writeReference({ ...handover, messageId: handover.id })
    const message: OutMessage = {
      to: writeRecipient(handover.theirNumber, settings),
      from: handover.ourNumber,
      text: handover.body,
      encoding: handover.encoding,
      segments: handover.segments,
      reference,
      receiptUrl: settings.receipt_url === 'message' ? receiptUrl : null,
      expiresAt: handover.expiresAt,
      now: now(),
    }
    const outcome = await sendMessage(this.#exchanger, message, settings, secrets, () => this.#mayWrite())
    this.#learn(outcome)
    this.#end(send, endOf(outcome, reasonOf), outcome.kind === 'accepted' ? outcome.ids : [])
  }

  /** Conclusions about the carrier from an outcome. */
  #learn(outcome: SendOutcome): void {
    switch (outcome.kind) {
      case 'unsent':
        return this.#onFault(outcome.reason, backOffMs(this.#faults, 'connect_failed', 0, false))
      case 'lost':
      case 'unknown':
        this.#noteError(outcome.reason)
        if (++this.#unanswered >= unansweredMax || this.#isTrial)
          this.#onFault(outcome.reason, backOffMs(this.#faults, 'connect_failed', 0, false))
        return
      case 'refused':
        if (outcome.isLinkFault)
          return this.#onFault(outcome.code, backOffMs(this.#faults, 'bind_refused', ESME.RINVPASWD, false))
        if (outcome.reason.handling === 'throttling') {
          if (this.#line.pace.slowDown(performance.now()))
            this.#options.onState(this, this.state, 'the carrier throttles', true)
        }
        break
      case 'accepted':
      case 'invalid':
        break
      default:
        return outcome satisfies never
    }
    this.#faults = 0
    this.#unanswered = 0
    if (!this.#isTrial) return
    this.#isTrial = false
    this.#options.onState(this, this.state, '')
  }

  /** Pauses; waiting messages go back to the queue for other links. */
  #onFault(reason: string, ms: number): void {
    const now = performance.now()
    this.#noteError(reason)
    // Requests in flight beside the first failure report the same fault.
    if (now < this.#downUntil || this.#isClosed) return
    this.#faults++
    this.#unanswered = 0
    this.#isTrial = true
    this.#downUntil = now + ms
    this.#releaseWaiting()
    this.#options.onState(this, this.state, `${reason}; again in ${(ms / 1000).toFixed(1)} s`, true)
    this.#recovery = setTimeout(() => {
      this.#recovery = null
      this.#downUntil = 0
      this.#options.onState(this, this.state, '')
      this.#options.onRoom()
    }, ms)
  }

  #noteError(error: string): void {
    this.lastError = error
    this.lastErrorAt = now()
  }

  #releaseWaiting(isOut?: (send: Send) => boolean): void {
    for (const send of this.#line.drain(isOut)) this.#end(send, { state: 'released' })
  }

  /** Ends every segment, the first one last, because it carries the message's one id. Ids that are too long for an index count as none. */
  #end({ attempt, writtenAt }: Send, end: SegmentEnd, given: readonly string[] = []): void {
    const ids = given.map((id) => (id.length > idMax ? null : id))
    const { handover } = attempt
    const intentAt = writtenAt === undefined ? attempt.intentAt : dateOf(writtenAt)
    const isByPart = handover.segments > 1 && ids.length === handover.segments
    const segments = handover.pending ?? Array.from({ length: handover.segments }, (_, i) => i + 1)
    if (writtenAt !== undefined) this.#options.onEnd?.(handover.theirNumber, end, performance.now() - writtenAt)
    for (const segment of segments.toReversed()) {
      const place = { nodeId: this.#options.nodeId, linkId: this.id, segment }
      const id = isByPart || segment === 1 ? (ids[segment - 1] ?? null) : null
      const answer = answerOf({ handover, intentAt }, place, end, id, endSegment(attempt, end))
      // One receipt covers the whole message, unless the carrier has an id for each segment.
      this.#options.onAnswer(isByPart ? answer : { ...answer, segments: 1 })
    }
  }

  /** Waits for answers; those still missing at the end are unknown. */
  async #drain(drainMs: number): Promise<void> {
    if (this.#running.size === 0) return
    await Promise.race([Promise.all(this.#running), sleep(drainMs, undefined, { ref: false })])
    if (this.#running.size === 0) return
    await this.#exchanger.close()
    await Promise.all(this.#running)
  }
}

export function createHttpLink(options: HttpLinkOptions): HttpLink {
  return new HttpLink(options)
}
