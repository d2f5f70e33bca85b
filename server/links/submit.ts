/**
 * Submit: this node's links, messages straight from accept, and the claims from the queue. All of it may be lost; other processes
 * claim it again.
 */
import { now, nowMs } from '../ground/db/clock.ts'
import { isUnavailable } from '../ground/db/failure.ts'
import type { Outbox, Subscriptions } from '../events/events.ts'
import type { Answer } from '../ledger/answer.ts'
import type { Handover, Newcomer, OwnLinks } from '../message/handover.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { MessageType } from '../message/message.ts'
import type { QueueCount } from '../queue/count.ts'
import type { QuietHours } from '../quiet-hours/quiet-hours.ts'
import type { Recent } from '../message/recent.ts'
import type { CarrierLink } from './carrier-link.ts'
import { Claimer } from './claimer.ts'
import { LinkSet, type LinkSetContext } from './link-set.ts'
import type { Limits } from './limits.ts'
import { aheadMs } from './line.ts'
import { Link } from './link.ts'
import { findStranded, type InFlight } from './stranded.ts'

interface SubmitContext extends LinkSetContext {
  ledger: Ledger
  outbox: Outbox
  subscriptions: Subscriptions
  recent: Recent
  quietHours: QuietHours
  queueCount: QueueCount
  /** Shared with this process's node. */
  inFlight: InFlight
}

// With less room on the link, claims cost too little to go around them.
const roomMin = 200

export class Submitter implements OwnLinks {
  readonly #context: SubmitContext
  readonly #linkSet: LinkSet
  readonly #claimer: Claimer
  readonly #inFlight: InFlight
  #isClosed = false

  constructor(context: SubmitContext) {
    this.#context = context
    this.#inFlight = context.inFlight
    this.#linkSet = new LinkSet(context, {
      onAnswer: (answer) => this.#answer(answer),
      onRoom: () => this.#claimer.look(),
    })
    this.#claimer = new Claimer({
      ...context,
      nodeId: this.nodeId,
      linkSet: this.#linkSet,
      submit: (handover) => this.#submit(handover),
    })
  }

  get nodeId(): string {
    return this.#context.node.id
  }

  get running(): ReadonlyMap<string, CarrierLink> {
    return this.#linkSet.running
  }

  get brokenCount(): number {
    return this.#linkSet.brokenCount
  }

  /** The end of the sessions' leases, on `performance.now()`; null: this process has none. */
  get leasedUntil(): number | null {
    return this.#linkSet.leasedUntil
  }

  get links(): ReadonlyMap<string, Link> {
    return new Map([...this.running].flatMap(([id, link]) => (link instanceof Link ? [[id, link] as const] : [])))
  }

  /** Carriers with a link up at any process, now or a moment ago. */
  get upCarriers(): ReadonlySet<string> {
    return this.#linkSet.upCarriers
  }

  get limits(): Limits {
    return this.#linkSet.limits
  }

  async start(): Promise<void> {
    await this.#linkSet.start()
    this.#claimer.start()
  }

  /** Drains every link and releases its leases. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.#claimer.close()
    await this.#linkSet.close()
  }

  preferUp(chain: readonly string[]): string | undefined {
    // Most chains have one carrier and need no look-up.
    if (chain.length < 2) return chain[0]
    return chain.find((id) => this.#linkSet.isCarrierUp(id)) ?? chain[0]
  }

  reserve(segments: number, type: MessageType, carrierId: string, accountId: string): string | null {
    if (this.#isClosed || this.#claimer.mustQueue(type, carrierId)) return null
    // Claims count messages with their own pace.
    if (this.#linkSet.limits.isLimited(accountId)) return null
    for (const link of this.#linkSet.byCarrier.get(carrierId) ?? []) if (link.reserve(segments, type)) return link.id
    return null
  }

  roomFor(accountId: string, type: MessageType): { free: number; most: number } | null {
    const { limits, leased, byCarrier } = this.#linkSet
    if (this.#isClosed || limits.isLimited(accountId) || leased.some(({ isUpElsewhere }) => isUpElsewhere)) return null
    let best: { free: number; most: number } | null = null
    for (const link of [...byCarrier.values()].flat()) {
      const most = link.sessions > 0 ? Math.min(link.windowMax, (link.pace * aheadMs) / 1000) : 0
      if (most < roomMin || (best && most <= best.most)) continue
      best = { free: this.#claimer.mustQueue(type, link.carrierId) ? 0 : link.room(type), most }
    }
    return best
  }

  release(linkId: string, segments: number): void {
    this.#linkSet.find(linkId)?.release(segments)
  }

  take(handovers: Handover[]): void {
    for (const handover of handovers) {
      this.release(handover.linkId, handover.segments)
      this.#submit(handover)
    }
  }

  wake(): void {
    this.#claimer.wake()
  }

  estimateSendAt(message: Newcomer): Date | null {
    const ms = this.#claimer.backlog.wait(message)
    return ms === null ? null : new Date(nowMs() + ms)
  }

  track<T>(statement: Promise<T>): Promise<T> {
    return this.#inFlight.track(statement)
  }

  async releaseStranded(): Promise<void> {
    const answers = await findStranded(this.#context.db, this.nodeId, this.#inFlight)
    if (answers.length > 0)
      this.#context.log.warn({ segments: answers.length }, 'returning stranded messages to the queue')
    await Promise.all(answers.map((answer) => this.#context.ledger.answer(answer)))
    if (answers.length > 0) this.wake()
  }

  #submit(handover: Handover): void {
    this.#inFlight.add(handover)
    const link = this.#linkSet.find(handover.linkId)
    if (link) link.submit(handover)
    // The link went away while the row was written: no byte was sent.
    else for (const segment of handover.pending ?? range(handover.segments)) this.#giveBack(handover, segment)
  }

  #giveBack(handover: Handover, segment: number): void {
    const isLast = segment === (handover.pending?.at(-1) ?? handover.segments)
    this.#answer({
      nodeId: this.nodeId,
      accountId: handover.accountId,
      messageId: handover.id,
      segment,
      segments: handover.segments,
      try: handover.try,
      linkId: handover.linkId,
      state: 'released',
      carrierMessageId: null,
      commandStatus: null,
      intentAt: now(),
      move: isLast ? { to: 'queued', isUnwritten: true, retryAfterMs: null, errorCode: null, errorRaw: null } : null,
    })
  }

  #answer(answer: Answer): void {
    this.#context.ledger.answer(answer).then(
      () => {
        if (answer.move) this.#inFlight.remove(answer.messageId, answer.try)
      },
      (error: unknown) => {
        if (!isUnavailable(error)) this.#context.log.error({ error }, 'an answer could not be written')
      },
    )
  }
}

const range = (n: number): number[] => Array.from({ length: n }, (_, i) => i + 1)
