/**
 * Submit: this node's links, what goes to them straight from accept, and the claims that feed them from the queue. Everything here can
 * be lost and is claimed again by whoever lives.
 */
import type { Log } from '../db/log.ts'
import type { Db } from '../db/db.ts'
import { isUnavailable } from '../db/failure.ts'
import type { Outbox, Subscriptions } from '../events.ts'
import type { Answer } from '../messages/answer.ts'
import { claimMessages, findLanes, type Lane } from '../messages/claim.ts'
import type { Handover, Slots } from '../messages/handover.ts'
import type { Ledger } from '../messages/ledger.ts'
import type { MessageType } from '../messages/message.ts'
import type { Node } from '../node.ts'
import type { Vault } from '../secrets.ts'
import { chooseLane } from './lanes.ts'
import { Link, type LinkOptions } from './link.ts'
import { findStranded, Hand } from './stranded.ts'
import { leaseLink, listRunnable, releaseLink, reportLink, type RunnableLink } from './store.ts'

interface SubmitContext {
  db: Db
  vault: Vault
  log: Log
  node: Node
  ledger: Ledger
  outbox: Outbox
  subscriptions: Subscriptions
  onDeliver: LinkOptions['onDeliver']
  trace?: LinkOptions['trace']
}

// The poll behind the hints: other nodes queue too, and retries fall due.
const pollMs = 250
// A link's lease outlives a few missed renewals and ends before its node is fenced.
const leaseSeconds = 10
const reportMs = 1000
// Messages of one claim; larger ones gain nothing.
const claimMax = 500
// How long a graceful stop waits for answers; the longest a carrier mostly takes.
const drainMs = 30_000
const noId = '00000000-0000-0000-0000-000000000000'

/** A link that runs here, with what it was started from. */
interface Running {
  link: Link
  version: string
  /** `submitted` at each of the last 60 reports, for the rate of the minute. */
  history: number[]
}

export class Submitter implements Slots {
  readonly #context: SubmitContext
  readonly #running = new Map<string, Running>()
  /** Links that drain; each starts anew only when its old session is gone, for carriers count sessions. */
  readonly #closing = new Map<string, Promise<void>>()
  readonly #hand = new Hand()
  /** Where the next claim of a lane begins: rows below were taken, and dead rows there would slow the scan; reset now and then. */
  readonly #lowWater = new Map<string, string>()
  #hasBacklog = true
  #backlog = 0
  #isClaiming = false
  #isClosed = false
  #turn = 0
  #timers: NodeJS.Timeout[] = []
  #work: Promise<void> = Promise.resolve()
  #managing: Promise<void> = Promise.resolve()
  #isManaging = false

  constructor(context: SubmitContext) {
    this.#context = context
  }

  get nodeId(): string {
    return this.#context.node.id
  }

  /** The links that run here, by id. */
  get links(): ReadonlyMap<string, Link> {
    return new Map([...this.#running].map(([id, { link }]) => [id, link]))
  }

  async start(): Promise<void> {
    await this.#manage()
    const every = (ms: number, work: () => void): void => void this.#timers.push(setInterval(work, ms))
    every(reportMs, () => {
      if (this.#isManaging) return
      this.#isManaging = true
      this.#managing = this.#manage()
        .catch((error: unknown) => this.#report(error, 'managing links failed'))
        .finally(() => {
          this.#isManaging = false
        })
    })
    every(pollMs, () => this.#look())
    every(1000, () => this.#lowWater.clear())
    this.#look()
  }

  /** Drains every link and gives its lease back. */
  async close(): Promise<void> {
    this.#isClosed = true
    for (const timer of this.#timers) clearInterval(timer)
    await this.#managing
    await this.#work
    await Promise.all([
      ...this.#closing.values(),
      ...[...this.#running.values()].map(({ link }) => link.close(drainMs)),
    ])
    for (const { link } of this.#running.values()) await releaseLink(this.#context.db, link.id, this.nodeId, 'down')
  }

  reserve(segments: number, type: MessageType): string | null {
    // Behind a backlog one waits in line; codes that somebody is waiting for do not.
    if (this.#isClosed || (this.#hasBacklog && type !== 'otp')) return null
    for (const { link } of this.#running.values()) if (link.reserve(segments)) return link.id
    return null
  }

  release(linkId: string, segments: number): void {
    this.#running.get(linkId)?.link.release(segments)
  }

  take(handovers: Handover[]): void {
    for (const handover of handovers) {
      this.release(handover.linkId, handover.segments)
      this.#submit(handover)
    }
  }

  wake(): void {
    this.#hasBacklog = true
    this.#look()
  }

  /** Claims what there is, unless a claim is under way. */
  #look(): void {
    if (this.#isClaiming || this.#isClosed) return
    this.#isClaiming = true
    this.#work = this.#claim()
      .catch((error: unknown) => this.#report(error, 'claiming failed'))
      .finally(() => {
        this.#isClaiming = false
      })
  }

  estimateSendAt(): Date | null {
    const pace = [...this.#running.values()].reduce((sum, { link }) => sum + (link.sessions > 0 ? link.pace : 0), 0)
    return pace === 0 ? null : new Date(Date.now() + (this.#backlog / pace) * 1000)
  }

  track<T>(statement: Promise<T>): Promise<T> {
    return this.#hand.track(statement)
  }

  /** Gives back what was leased to this node by statements whose answers were lost. */
  async releaseStranded(): Promise<void> {
    const answers = await findStranded(this.#context.db, this.nodeId, this.#hand)
    if (answers.length > 0) this.#context.log.warn({ segments: answers.length }, 'giving back what was stranded')
    await Promise.all(answers.map((answer) => this.#context.ledger.answer(answer)))
    if (answers.length > 0) this.wake()
  }

  #submit(handover: Handover): void {
    this.#hand.add(handover.id, handover.try)
    const running = this.#running.get(handover.linkId)
    if (running) running.link.submit(handover)
    // The link went while the row was written: no byte was.
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
      intentAt: new Date(),
      move: isLast ? { to: 'queued', retryAfterMs: null, errorCode: null, errorRaw: null } : null,
    })
  }

  #answer(answer: Answer): void {
    this.#context.ledger.answer(answer).then(
      () => {
        if (answer.move) this.#hand.remove(answer.messageId, answer.try)
      },
      (error: unknown) => this.#report(error, 'an answer could not be written'),
    )
  }

  /** Claims until the links are full or the lanes empty. */
  async #claim(): Promise<void> {
    const { db } = this.#context
    for (;;) {
      const links = [...this.#running.values()].map(({ link }) => link).filter((link) => link.room > 0)
      if (links.length === 0 || this.#isClosed) return
      const lanes = await findLanes(db)
      this.#hasBacklog = lanes.length > 0
      if (!this.#hasBacklog) {
        this.#backlog = 0
        return
      }
      const lane = chooseLane(lanes, this.#turn++)
      const { isEmpty, isIdle } = await this.#claimLane(lane, links)
      // Nothing more waits in line: what is accepted from now on may go straight to a link.
      if (isEmpty && lanes.length === 1) this.#hasBacklog = false
      if (isIdle) return
    }
  }

  /** One claim of a lane: whether it took the last of it, and whether it took nothing at all, so that the caller rests. */
  async #claimLane(lane: Lane, links: Link[]): Promise<{ isEmpty: boolean; isIdle: boolean }> {
    const room = Math.min(...links.map((link) => link.room))
    const after = this.#lowWater.get(lane.id) ?? noId
    const limit = Math.max(1, Math.min(room, claimMax))
    const { handovers, claimed, lastId } = await this.track(
      claimMessages(this.#context, this.nodeId, links, lane.id, after, limit),
    )
    if (lastId) this.#lowWater.set(lane.id, lastId)
    for (const handover of handovers) this.#submit(handover)
    if (claimed === 0) this.#lowWater.delete(lane.id)
    return { isEmpty: claimed < limit, isIdle: claimed === 0 && after === noId }
  }

  /** Starts, restarts and stops links as the rows say, renews leases and reports what they do. */
  async #manage(): Promise<void> {
    const { db, log } = this.#context
    const wanted = new Map((await listRunnable(db)).map((one) => [one.id, one]))
    for (const [id, { link, version }] of this.#running) {
      const one = wanted.get(id)
      if (one && versionOf(one) === version) continue
      log.info({ link: id }, one ? 'link settings changed' : 'link disabled')
      this.#stopLink(link, drainMs, one === undefined)
    }
    for (const one of wanted.values()) {
      const isMine = await leaseLink(db, one.id, this.nodeId, leaseSeconds)
      const running = this.#running.get(one.id)
      if (isMine && !running && !this.#closing.has(one.id)) this.#tryLink(one)
      if (!isMine && running) {
        log.warn({ link: one.id }, 'link lease lost')
        this.#stopLink(running.link, 0, false)
      }
    }
    for (const running of this.#running.values()) await this.#reportLink(running)
    await this.#countBacklog()
  }

  /** Lets a link drain beside the others, which go on; its lease is kept meanwhile unless it is over. */
  #stopLink(link: Link, ms: number, isOver: boolean): void {
    this.#running.delete(link.id)
    const closed = link
      .close(ms)
      .then(() => (isOver ? releaseLink(this.#context.db, link.id, this.nodeId, 'disabled') : undefined))
      .catch((error: unknown) => this.#report(error, 'a link did not stop cleanly'))
      .finally(() => this.#closing.delete(link.id))
    this.#closing.set(link.id, closed)
  }

  /** Starts a link; one that cannot be (its password is sealed with another key) does not keep the others down. */
  #tryLink(one: RunnableLink): void {
    try {
      this.#startLink(one)
    } catch (error) {
      this.#context.log.error({ link: one.id, error }, 'a link could not be started')
    }
  }

  #startLink(one: RunnableLink): void {
    const { vault, log, node, onDeliver, trace } = this.#context
    const { carrier } = one
    const link = new Link({
      id: one.id,
      carrierId: carrier.id,
      settings: carrier.settings,
      password: carrier.secrets ? vault.open(carrier.secrets, `carriers.secrets|${carrier.id}`) : '',
      pace: carrier.pace,
      nodeId: this.nodeId,
      mayWrite: () => node.isFresh,
      onAnswer: (answer) => this.#answer(answer),
      onDeliver,
      onRoom: () => {
        if (this.#hasBacklog) this.#look()
      },
      onState: (changed, state, detail) => {
        log.info({ link: changed.id, carrier: carrier.name, state, detail }, 'link state changed')
        if (state === 'bound') this.#look()
      },
      ...(trace && { trace }),
    })
    this.#running.set(one.id, { link, version: versionOf(one), history: [] })
    link.start()
  }

  async #reportLink({ link, history }: Running): Promise<void> {
    history.push(link.submitted)
    if (history.length > 61) history.shift()
    const seconds = ((history.length - 1) * reportMs) / 1000
    await reportLink(this.#context.db, this.nodeId, {
      linkId: link.id,
      state: link.state,
      sessions: link.sessions,
      windowMax: link.settings.window,
      inFlight: link.inFlight,
      pace: link.pace,
      rate: seconds > 0 ? ((history.at(-1) ?? 0) - (history[0] ?? 0)) / seconds : 0,
      lastEnquireLinkAt: link.lastEnquireAt,
      lastError: link.lastError,
      lastErrorAt: link.lastErrorAt,
    })
  }

  /** Segments that wait, up to a bound: for the estimate of a message queued now. */
  async #countBacklog(): Promise<void> {
    const { rows } = await this.#context.db.query<{ segments: number }>(
      `select coalesce(sum(segments), 0)::int as segments from (select segments from queue limit 100000) q`,
    )
    this.#backlog = rows[0]?.segments ?? 0
  }

  #report(error: unknown, message: string): void {
    if (!isUnavailable(error)) this.#context.log.error({ error }, message)
  }
}

const range = (n: number): number[] => Array.from({ length: n }, (_, i) => i + 1)

const versionOf = ({ carrier }: RunnableLink): string =>
  JSON.stringify([carrier.updatedAt, carrier.settings, carrier.pace])
