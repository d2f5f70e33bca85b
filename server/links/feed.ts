/** Feeds the links of this process from the queue: which lane is claimed next, for which links, and how much waits in front of whom. */
import { nowMs } from '../ground/db/clock.ts'
import type { Log } from '../ground/db/log.ts'
import type { Db } from '../ground/db/db.ts'
import { isUnavailable } from '../ground/db/failure.ts'
import { dayOf } from '../ground/db/partitions.ts'
import type { Outbox, Subscriptions } from '../events/events.ts'
import { firstIdAt } from '../ground/base/ids.ts'
import { claimMessages, findLanes, type Lane, type Room } from '../queue/claim.ts'
import type { Handover } from '../message/handover.ts'
import type { MessageType } from '../message/message.ts'
import type { QueueCount } from '../queue/count.ts'
import type { QuietHours } from '../quiet-hours/quiet-hours.ts'
import type { Recent } from '../message/recent.ts'
import { rejectUnreadable } from '../ledger/unreadable.ts'
import { Backlog } from './backlog.ts'
import type { CarrierLink } from './carrier-link.ts'
import type { LinkSet } from './link-set.ts'
import { LaneTurns, messageTypes, rankOf } from './lanes.ts'
import type { InFlight } from './stranded.ts'

interface FeedContext {
  db: Db
  log: Log
  outbox: Outbox
  subscriptions: Subscriptions
  recent: Recent
  quietHours: QuietHours
  queueCount: QueueCount
  nodeId: string
  linkSet: LinkSet
  /** Notes what statements may commit (see stranded.ts). */
  inFlight: InFlight
  submit: (handover: Handover) => void
}

// The poll behind the hints: other nodes queue too, and retries fall due.
const pollMs = 250
// Messages of one claim; larger ones gain nothing.
const claimMax = 500
// Least of a lane that several carriers share, or paces: what may go is looked for behind what is to wait elsewhere.
const sortMin = 50
// How long the list of lanes is good while claims go on.
const lanesMs = 100
// Dead rows at the head of a lane slow its scan, so a claim begins where the last one ended; rows that came in below are seen again soon.
const lowWaterMs = 1000
// How often what waits for a carrier that is down is looked at: its route may be another by now.
const recheckMs = 60_000
const dayMs = 86_400_000
const noId = '00000000-0000-0000-0000-000000000000'

/** A lane with what of it may be claimed now. */
interface Choice {
  lane: Lane
  rooms: Room[]
  limit: number
  isRecheck: boolean
}

export class Feed {
  readonly backlog: Backlog
  readonly #context: FeedContext
  /** Where the next claim of a lane begins. */
  readonly #lowWater = new Map<string, string>()
  /** Where the second look at what waits for a carrier goes on, by lane. */
  readonly #rechecks = new Map<string, string>()
  #lanes: readonly Lane[] = []
  #lanesAt = -Infinity
  /** Lanes of which this turn of the loop takes no more. */
  readonly #spent = new Set<string>()
  /** Something may have been queued since the lanes were read. */
  #isStale = true
  #isClaiming = false
  #isClosed = false
  readonly #turns = new LaneTurns<Lane>()
  #carriers = ''
  #recheckedAt = performance.now()
  #timers: NodeJS.Timeout[] = []
  #work: Promise<void> = Promise.resolve()

  constructor(context: FeedContext) {
    this.#context = context
    this.backlog = new Backlog(context.queueCount, context.linkSet)
  }

  start(): void {
    this.#timers = [setInterval(() => this.look(), pollMs), setInterval(() => this.#lowWater.clear(), lowWaterMs)]
    this.look()
  }

  async close(): Promise<void> {
    this.#isClosed = true
    for (const timer of this.#timers) clearInterval(timer)
    await this.#work
  }

  /** Something was queued. */
  wake(): void {
    this.#isStale = true
    this.look()
  }

  /** There may be room, or something to claim. Claims what there is, unless that is under way. */
  look(): void {
    if (this.#isClaiming || this.#isClosed) return
    this.#isClaiming = true
    this.#work = this.#claimAll().catch((error: unknown) => {
      if (!isUnavailable(error)) this.#context.log.error({ error }, 'claiming failed')
    })
  }

  /** Whether a message must wait in line: something before it does. Codes, which somebody is waiting for, do not. */
  mustQueue(type: MessageType, carrierId: string | undefined): boolean {
    if (type === 'otp') return false
    if (this.#isStale) return true
    const { linkSet } = this.#context
    const rank = rankOf(type)
    return this.#lanes.some(
      (lane) =>
        rankOf(lane.type) <= rank &&
        !this.#spent.has(lane.id) &&
        (lane.carrierId === null || (carrierId ?? lane.carrierId) === lane.carrierId) &&
        (lane.carrierId === null || linkSet.byCarrier.has(lane.carrierId)) &&
        !linkSet.limits.isLimited(lane.accountId),
    )
  }

  /** Claims until the links are full or the lanes empty. */
  async #claimAll(): Promise<void> {
    try {
      this.#lookAgain()
      for (let isFirst = true; !this.#isClosed; isFirst = false) {
        if (!this.#hasRoom) return
        const now = performance.now()
        if (isFirst || this.#isStale || now - this.#lanesAt > lanesMs) {
          this.#isStale = false
          this.#lanes = await findLanes(this.#context.db)
          this.#lanesAt = now
          this.#spent.clear()
          this.backlog.note(this.#lanes, now)
        }
        const choices = this.#lanes.flatMap((lane) => this.#offer(lane, now) ?? [])
        if (choices.length === 0) {
          // Something was queued while the lanes were read.
          if (this.#isStale) continue
          return
        }
        const lane = this.#turns.choose(choices.map((choice) => choice.lane))
        const choice = choices.find((one) => one.lane === lane)
        if (choice) await this.#claim(choice)
      }
    } finally {
      // In one turn with the last look at what is stale: who wakes after it begins again.
      this.#isClaiming = false
    }
  }

  /** Whether any link has room for anything: also where codes have filled it, the others have a place of their own. */
  get #hasRoom(): boolean {
    for (const links of this.#context.linkSet.byCarrier.values())
      for (const link of links) if (messageTypes.some((type) => link.room(type) > 0)) return true
    return false
  }

  /** What of a lane may be claimed now; null: nothing. */
  #offer(lane: Lane, now: number): Choice | null {
    if (this.#spent.has(lane.id)) return null
    const { byCarrier, limits } = this.#context.linkSet
    const isLimited = limits.isLimited(lane.accountId)
    const allowance = isLimited ? limits.allowance(lane, now) : Infinity
    if (allowance <= 0) return null
    const isRecheck = this.#rechecks.has(lane.id)
    const rooms: Room[] = []
    for (const [carrierId, links] of byCarrier) {
      if (!isRecheck && lane.carrierId !== null && lane.carrierId !== carrierId) continue
      // What came before waits apart: what comes now goes behind it.
      if (lane.carrierId === null && this.#hasBacklog(lane, carrierId)) continue
      const room = roomOf(links, lane.type)
      if (room) rooms.push(room)
    }
    if (rooms.length === 0) return null
    const total = Math.min(
      allowance,
      rooms.reduce((sum, { segments }) => sum + (segments ?? 0), 0),
    )
    if (total < Infinity) for (const room of rooms) room.segments = Math.min(room.segments ?? 0, total)
    const least = isRecheck ? claimMax : lane.carrierId === null && (byCarrier.size > 1 || isLimited) ? sortMin : 1
    return { lane, rooms, limit: Math.min(claimMax, Math.max(least, total)), isRecheck }
  }

  #hasBacklog(lane: Lane, carrierId: string): boolean {
    return this.#lanes.some(
      (one) =>
        one.laneId === lane.laneId &&
        one.carrierId === carrierId &&
        one.sender === null &&
        one.campaignId === null &&
        !this.#spent.has(one.id),
    )
  }

  async #claim({ lane, rooms, limit, isRecheck }: Choice): Promise<void> {
    const { nodeId, linkSet, quietHours: hours, inFlight, submit } = this.#context
    const { accountId, type } = lane
    const mark = (isRecheck ? this.#rechecks.get(lane.id) : this.#lowWater.get(lane.id)) ?? noId
    const { day, after } = isRecheck ? { day: '', after: mark } : claimFrom(lane.head, mark)
    const { handovers, claimed, stayed, lastId, clearId } = await inFlight.track(
      claimMessages({ ...this.#context, rejectUnreadable }, nodeId, rooms, lane.id, after, limit, {
        laneId: lane.laneId,
        quiet: hours.mayHold(accountId, type) ? { hours, accountId, type } : null,
        sender: lane.sender,
        // Not before its pace is known here.
        campaignId: linkSet.limits.partOf({ accountId, campaignId: lane.campaignId }).campaignId,
        sorts: isRecheck || linkSet.leased.some((one) => one.carrierId !== linkSet.leased[0]?.carrierId),
        upCarriers: [...linkSet.upCarriers],
        day,
        directFrom: inFlight.directFrom(),
      }),
    )
    for (const handover of handovers) submit(handover)
    // Also what it put elsewhere has had its turn.
    const taken = handovers.reduce((sum, { segments }) => sum + segments, 0)
    const waiting = this.#lanes.filter(({ id }) => !this.#spent.has(id))
    this.#turns.took(lane, Math.max(1, claimed, taken), waiting)
    const isEnd = claimed < limit
    if (isRecheck) {
      if (isEnd) this.#rechecks.delete(lane.id)
      else if (lastId) this.#rechecks.set(lane.id, lastId)
      if (isEnd) this.#spent.add(lane.id)
      return
    }
    if (clearId) this.#lowWater.set(lane.id, clearId)
    // An end that was reached from a low-water mark is looked at again from the beginning, when the marks are reset.
    if (isEnd && stayed === 0) this.#spent.add(lane.id)
    if (claimed > 0 && stayed === claimed) this.#spent.add(lane.id)
  }

  /** What waits for a carrier is looked at again when carriers have come, gone, or changed between up and down; and now and then where it is down. */
  #lookAgain(): void {
    const { linkSet } = this.#context
    const up = linkSet.upCarriers
    const carriers = JSON.stringify([linkSet.leased.map(({ carrierId }) => carrierId), [...up].sort()])
    const now = performance.now()
    const isChanged = carriers !== this.#carriers
    if (!isChanged && now - this.#recheckedAt < recheckMs) return
    this.#carriers = carriers
    this.#recheckedAt = now
    for (const { id, carrierId } of this.#lanes)
      if (carrierId !== null && (isChanged || !up.has(carrierId))) this.#rechecks.set(id, noId)
  }
}

/**
 * Where a claim begins, and the one day that it takes: what is in line is nearly always of today. Where the lane begins with older messages, any.
 */
function claimFrom(head: string, mark: string): { day: string; after: string } {
  const today = firstIdAt(Math.floor(nowMs() / dayMs) * dayMs)
  const first = mark > head ? mark : head
  const day = first >= today ? dayOf([first]) : ''
  return { day, after: day !== '' && mark < today ? today : mark }
}

/** The roomiest of a carrier's links. */
function roomOf(links: readonly CarrierLink[], type: MessageType): Room | null {
  let best: Room | null = null
  for (const link of links) {
    const segments = link.room(type)
    if (segments > (best?.segments ?? 0)) best = { id: link.id, carrierId: link.carrierId, segments }
  }
  return best
}
