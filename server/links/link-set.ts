/**
 * The links of this process: started, restarted and stopped by their rows, with renewed leases, their part of the pace and their reports. One turn a
 * second; each can be missed for a while.
 */
import { setTimeout as pause } from 'node:timers/promises'
import type { Log } from '../ground/db/log.ts'
import { nowMs } from '../ground/db/clock.ts'
import type { Db } from '../ground/db/db.ts'
import { isUnavailable } from '../ground/db/failure.ts'
import type { Answer } from '../ledger/answer.ts'
import type { Meter } from '../ground/metrics/meter.ts'
import { defaultReasons, type Reasons } from '../message/taxonomy.ts'
import type { Node } from './node.ts'
import type { CarrierLink, CarrierLinkOptions, LinkState, OpenLink } from './carrier-link.ts'
import { applyLease, heldOf, isBroken, isInVain, leasedUntil, leaseOf, makeEntry, slotsOf } from './link-entry.ts'
import type { Entry } from './link-entry.ts'
import { releaseLeases, releaseLink, renewLeases, type LeasedLink } from './leases.ts'
import { releaseGrants } from './limit-grants.ts'
import { Limits } from './limits.ts'
import type { Holder } from './shares.ts'
import { findRunnable, type RunnableLink } from './carrier-store.ts'

export interface LinkSetContext {
  db: Db
  log: Log
  node: Node
  openLink: OpenLink
  reasons?: Reasons
  testPort?: () => number | null
  meter?: Meter
  /** How long a link that others have bound is tried in vain before it is left to them, in milliseconds; a minute by default. */
  restAfterMs?: number
  /** Milliseconds between two looks at the rows of links; a second by default. */
  turnMs?: number
}

interface LinkSetEvents {
  onAnswer: (answer: Answer) => void
  /** A link may have room, or is bound. */
  onRoom: () => void
}

// How long a graceful stop waits for answers; carriers rarely take longer.
const drainMs = 30_000
// A session that is redialled at once does not send its messages to another carrier.
const blipMs = 5000
// Segments written here count for a second: the next holder begins after it.
const countsMs = 1000

export class LinkSet {
  readonly limits: Limits = new Limits()
  readonly #context: LinkSetContext
  readonly #events: LinkSetEvents
  readonly #entries = new Map<string, Entry>()
  /** When a link of each carrier was last seen up, in monotonic milliseconds. */
  readonly #upAt = new Map<string, number>()
  #byCarrier: ReadonlyMap<string, readonly CarrierLink[]> = new Map()
  #leased: readonly LeasedLink[] = []
  #leasedOf: ReadonlyMap<string, readonly LeasedLink[]> = new Map()
  #turning: Promise<void> | null = null
  #timer: NodeJS.Timeout | null = null
  #isHasty = false
  #isClosing = false

  constructor(context: LinkSetContext, events: LinkSetEvents) {
    this.#context = context
    this.#events = events
  }

  /** Links that run here and are not being stopped, by id. */
  get running(): ReadonlyMap<string, CarrierLink> {
    return new Map([...this.#entries].flatMap(([id, { link, isClosing }]) => (link && !isClosing ? [[id, link]] : [])))
  }

  /** Links that this process should run, but cannot start until they change. */
  get brokenCount(): number {
    return [...this.#entries.values()].filter(isBroken).length
  }

  /** Until when sessions are leased (`link-entry.ts`). */
  get leasedUntil(): number | null {
    return leasedUntil(this.#entries.values())
  }

  /** Links that run here and take messages, by carrier, best carrier first. */
  get byCarrier(): ReadonlyMap<string, readonly CarrierLink[]> {
    return this.#byCarrier
  }

  /** The last turn's result for every enabled link, best carrier first. */
  get leased(): readonly LeasedLink[] {
    return this.#leased
  }

  /** Carriers that are up (`isCarrierUp`). */
  get upCarriers(): ReadonlySet<string> {
    return new Set([...this.#leasedOf.keys(), ...this.#upAt.keys()].filter((id) => this.isCarrierUp(id)))
  }

  /** Whether any process has, or just had, a link of a carrier up; or has one that waits for a message as its trial. */
  isCarrierUp(id: string): boolean {
    const now = performance.now()
    const leased = this.#leasedOf.get(id) ?? []
    if (leased.some((one) => this.isUp(one))) this.#upAt.set(id, now)
    return (
      now - (this.#upAt.get(id) ?? -Infinity) < blipMs ||
      leased.some(({ isOnTrialElsewhere }) => isOnTrialElsewhere) ||
      (this.#byCarrier.get(id) ?? []).some((link) => link.room('otp') > 0)
    )
  }

  /** Whether any process has it up. */
  isUp({ id, isUpElsewhere }: LeasedLink): boolean {
    return isUpElsewhere || (this.find(id)?.sessions ?? 0) > 0
  }

  find(linkId: string): CarrierLink | null {
    const entry = this.#entries.get(linkId)
    return entry && !entry.isClosing ? entry.link : null
  }

  async start(): Promise<void> {
    await this.#begin()
    this.#timer = setInterval(() => this.turn(), this.#context.turnMs ?? 1000)
  }

  turn(): void {
    if (this.#turning === null) this.#begin().catch((error: unknown) => this.#report(error, 'managing links failed'))
  }

  #begin(): Promise<void> {
    const turn = this.#turn().finally(() => {
      this.#turning = null
      if (this.#isHasty) this.#hasten()
    })
    this.#turning = turn.catch(() => {})
    return turn
  }

  /** Takes a turn now, or after the running one: other processes or an operator wait for this change. */
  #hasten(): void {
    this.#isHasty = this.#turning !== null
    if (!this.#isHasty && !this.#isClosing) this.turn()
  }

  /** Drains every link, keeping its leases meanwhile, and releases them. */
  async close(): Promise<void> {
    this.#isClosing = true
    await this.#turning
    const stoppedAt = performance.now()
    await Promise.all([...this.#entries.values()].map((entry) => this.#stop(entry, drainMs)))
    if (this.#timer) clearInterval(this.#timer)
    await this.#turning
    // Processes that began since the last turn may take over as well.
    this.turn()
    await this.#turning
    if (this.#leased.some(({ holders }) => holders.length > 1))
      await pause(Math.max(0, countsMs - (performance.now() - stoppedAt)))
    const { db, node } = this.#context
    await releaseGrants(db, node.id)
    await releaseLeases(db, node.id)
  }

  async #turn(): Promise<void> {
    const { db, node } = this.#context
    const now = performance.now()
    const leased = await renewLeases(
      db,
      node.id,
      (id) => {
        const held = heldOf(this.#entries.get(id) ?? makeEntry(), now)
        return this.#isClosing ? { ...held, wants: false } : held
      },
      now,
    )
    if (leased === null) {
      for (const { link } of this.#entries.values()) link?.renew({ slots: [], untilMs: 0 })
      return
    }
    this.#leased = leased
    this.#leasedOf = Map.groupBy(leased, ({ carrierId }) => carrierId)
    const ids = new Set(leased.map(({ id }) => id))
    for (const [id, entry] of this.#entries) if (!ids.has(id)) await this.#leave(id, entry)
    const starting = leased.filter((one) => this.#apply(one, now)).map(({ id }) => id)
    if (starting.length > 0) await this.#startLinks(starting)
    this.#listRunning()
    await this.#renewLimits(leased)
  }

  /** Applies the decision on a link. True: start it. */
  #apply(leased: LeasedLink, now: number): boolean {
    const entry = this.#entries.get(leased.id) ?? makeEntry()
    this.#entries.set(leased.id, entry)
    applyLease(entry, leased, now)
    const { link } = entry
    if (!link) {
      // Nothing is bound: surplus slots are released at once instead of dialled first.
      entry.free.push(...leased.give)
      return slotsOf(entry).length > 0 && entry.version !== leased.version && !this.#isClosing && !entry.isClosing
    }
    link.renew(leaseOf(entry))
    if (entry.isClosing) return false
    if (entry.version !== leased.version) {
      this.#context.log.info({ link: leased.id }, 'link settings changed')
      void this.#stop(entry, drainMs).then(() => this.#hasten())
    } else if (entry.slots.size === 0) {
      this.#context.log.warn({ link: leased.id }, 'link lease lost')
      void this.#stop(entry, 0)
    } else if (isInVain(entry, leased, now, this.#context.restAfterMs)) this.#leaveToOthers(entry, link)
    else for (const slot of leased.give) this.#giveUp(entry, link, slot)
    return false
  }

  /** The carrier refuses binds from here, but not from elsewhere: the slots are of use there. */
  #leaveToOthers(entry: Entry, { id, lastError, lastErrorAt }: CarrierLink): void {
    this.#context.log.warn({ link: id, detail: lastError, rest_ms: entry.rest.ms }, 'link left to other processes')
    entry.fault = { lastError, lastErrorAt }
    void this.#stop(entry, 0).then(() => {
      entry.free.push(...entry.slots.keys())
      this.#hasten()
    })
  }

  /** Drains one slot beside the others, for a process with less than its part. */
  #giveUp(entry: Entry, link: CarrierLink, slot: number): void {
    if (entry.dropping.has(slot)) return
    entry.dropping.add(slot)
    this.#context.log.info({ link: link.id, slot }, 'session handed over to another process')
    link.drop(slot, drainMs).then(
      () => {
        entry.free.push(slot)
        this.turn()
      },
      (error: unknown) => this.#report(error, 'a link did not stop cleanly'),
    )
  }

  /**
   * Drains a disabled or deleted link; a later turn removes it. Never during a turn, which may have found it enabled again; nor while its written
   * segments count, because it would begin again.
   */
  async #leave(id: string, entry: Entry): Promise<void> {
    if (entry.isClosing) return
    if (entry.link) {
      this.#context.log.info({ link: id }, 'link disabled')
      void this.#stop(entry, drainMs).then(() => this.#hasten())
      return
    }
    if (performance.now() - entry.stoppedAt < countsMs) return
    await releaseLink(this.#context.db, id, this.#context.node.id)
    this.#entries.delete(id)
  }

  /** Drains a link beside the others; its leases are kept meanwhile. It can be started again afterwards. */
  async #stop(entry: Entry, ms: number): Promise<void> {
    const { link } = entry
    if (!link || entry.isClosing) return
    entry.isClosing = true
    this.#listRunning()
    await link.close(ms).catch((error: unknown) => this.#report(error, 'a link did not stop cleanly'))
    entry.link = null
    entry.stoppedAt = performance.now()
    entry.version = ''
    entry.history = []
    entry.isClosing = false
  }

  /** Best carrier first, as the leases are. */
  #listRunning(): void {
    const known = this.#leased.flatMap(({ id }) => this.#entries.get(id) ?? [])
    const links = known.flatMap(({ link, isClosing }) => (link && !isClosing ? [link] : []))
    this.#byCarrier = Map.groupBy(links, (link) => link.carrierId)
  }

  async #startLinks(ids: readonly string[]): Promise<void> {
    for (const one of await findRunnable(this.#context.db, ids)) {
      const entry = this.#entries.get(one.id)
      if (!entry) continue
      // A simulator that is being started is asked again in the next turn.
      if (one.isTest && (this.#context.testPort?.() ?? null) === null) continue
      // Before the start: a link that fails to start is not retried until it changes.
      entry.version = entry.leased?.version ?? ''
      try {
        const link = this.#context.openLink(one, this.#optionsOf(one, entry))
        link.renew(leaseOf(entry))
        entry.link = link
      } catch (error) {
        // Its password is sealed with another key: the others still start.
        this.#context.log.error({ link: one.id, error }, 'a link could not be started')
        const reason = error instanceof Error ? error.message : String(error)
        entry.fault = { lastError: `cannot_start: ${reason}`, lastErrorAt: new Date(nowMs()) }
        entry.free.push(...entry.slots.keys())
      }
    }
  }

  #optionsOf(one: RunnableLink, entry: Entry): CarrierLinkOptions {
    const { log, node, meter, reasons = defaultReasons } = this.#context
    const { onAnswer, onRoom } = this.#events
    return {
      id: one.id,
      carrierId: one.carrierId,
      nodeId: node.id,
      pace: entry.pace,
      reasons,
      limits: this.limits,
      mayWrite: () => node.isFresh,
      onAnswer,
      ...(meter && { onEnd: meter.linkObserver(one.id, one.carrierId) }),
      onRoom,
      onState: (changed: CarrierLink, state: LinkState, detail: string, isTrouble: boolean = false) => {
        const fields = { link: changed.id, carrier: one.carrierName, state, detail }
        // A session that ends during a stop ends on purpose.
        if (isTrouble && !entry.isClosing) log.warn(fields, 'link state changed')
        else log.info(fields, 'link state changed')
        // Others share the pace by bound sessions, and an operator watches them.
        this.#hasten()
        if (state === 'bound') onRoom()
      },
    }
  }

  /** Takes this process's parts of the paces of senders, accounts, campaigns and lanes. */
  async #renewLimits(leased: readonly LeasedLink[]): Promise<void> {
    const merged = new Map<string | null, Holder[]>()
    const holdersOf = (carrierId: string | null): readonly Holder[] => {
      const known = merged.get(carrierId)
      if (known) return known
      const all = leased.filter((one) => carrierId === null || one.carrierId === carrierId)
      const parts = Map.groupBy(
        all.flatMap(({ holders }) => holders),
        (holder) => holder.nodeId,
      )
      const holders = [...parts]
        .map(([nodeId, own]): Holder => ({ nodeId, weight: own.reduce((sum, { weight }) => sum + weight, 0) }))
        .sort((a, b) => (a.nodeId < b.nodeId ? -1 : 1))
      merged.set(carrierId, holders)
      return holders
    }
    const { db, node } = this.#context
    await this.limits.renew(db, node.id, holdersOf)
  }

  #report(error: unknown, message: string): void {
    if (!isUnavailable(error)) this.#context.log.error({ error }, message)
  }
}
